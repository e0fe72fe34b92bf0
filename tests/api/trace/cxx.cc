// SPDX-License-Identifier: MIT
// cxx.cc - the events of all.h and of what only C++ has: templates, lambdas, constructors, virtual functions,
// exceptions. Compiled twice into one program (PART 1 and 2), which thus has inline functions and templates twice.
#include "all.h"
#include <cstdlib>

template <class T> __attribute__((noinline)) int tmpl(T v)
{
	HODO_EVENT(cxx, tmpl, v);
	return (int)v;
}
inline int inline_function(int v)
{
	HODO_EVENT(cxx, inlinef, v);
	return v + 1;
}
struct object {
	int x;
	explicit object(int v) : x(v) { HODO_EVENT(cxx, ctor, this->x); }
	virtual ~object() { HODO_EVENT(cxx, dtor, x); }
	virtual int method(int v)
	{
		HODO_SPAN(cxx, method, v, HODO_F(self, x));
		return v + x;
	}
};
int part2(int n);

static int run(int n)
{
	object before(n);
	auto lambda = [&](int v) {
		HODO_EVENT(cxx, lambda, v, n);
		return v + n;
	};
	object after(n + 1);
	try {
		object inner(n + 2);
		if (n >= 0)
			throw lambda(n);
	} catch (int v) {
		HODO_MARK(cxx, caught, "caught %d", v);
	}
	return tmpl(n) + tmpl((double)n) + tmpl('c') + inline_function(n) + before.method(n) + after.method(n);
}

#if PART == 1
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	all_req req = { 3, "user17", 1 };

	for (int i = 0; i < rounds; i++) {
		all_events(i, &req, nullptr);
		sum += run(i) + part2(i);
	}
	return sum == -12345;
}
#else
int part2(int n) { return run(n); }
#endif
