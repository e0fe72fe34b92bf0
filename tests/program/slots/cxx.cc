// SPDX-License-Identifier: MIT
// cxx.cc - exceptions through functions with slots, in C++: destructors, catch, rethrow. Counts are in cases.py.
#include <cstdio>
#include <stdexcept>
#include <string>
#include "slots.h"

#define ALONE __attribute__((noinline))
#define KEEP __asm__ volatile("" ::: "memory")

static int destroyed;

namespace ns {
struct Guard {
	std::string text = "a text that is too long to be kept inside";
	ALONE ~Guard() { destroyed++; }
};
template <class T> struct Box {
	T value;
	ALONE T get(T more) { KEEP; return value + more; }
};
ALONE int thrower(int depth)
{
	Guard guard;

	KEEP;
	if (depth == 0)
		throw std::runtime_error("thrown");
	return thrower(depth - 1) + 1;
}
ALONE int catcher(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::exception &) {
		KEEP;
		return 1;
	}
}
ALONE void rethrower(int depth)
{
	Guard guard;

	try {
		thrower(depth);
	} catch (...) {
		KEEP;
		throw;
	}
}
ALONE void passes(int n) noexcept(false)
{
	Guard guard;

	if (n % 2)
		rethrower(3);
	KEEP;
}
} // namespace ns

ALONE static int once(int n)
{
	int r = ns::catcher(4) + ns::Box<int>{ 5 }.get(n) + (int)ns::Box<double>{ 0.5 }.get(n);

	try {
		ns::passes(n);
	} catch (const std::runtime_error &) {
		r++;
	}
	return r;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	int plain = 0, traced = 0;

	for (int n = 0; n < 21; n++)
		plain += once(n);
	int before = destroyed;
	if (slots_on("ns::*"))
		return 1;
	for (int n = 0; n < 21; n++)
		traced += once(n);
	slots_off();
	if (plain != traced || destroyed != 2 * before || slots_differ(stdout, argc > 1 ? argv[1] : "exact")) {
		printf("FAILED %d %d %d %d\n", plain, traced, before, destroyed);
		return 1;
	}
	slots_print(stdout);
	return 0;
}
