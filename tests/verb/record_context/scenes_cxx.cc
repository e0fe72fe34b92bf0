// SPDX-License-Identifier: MIT
// scenes_cxx.cc - the same call chain in C++, where a function of the headers emits the events.
#include <string>

#include <hodo/trace.h>

#define KEEP __attribute__((noinline))
#define STAY __asm__ volatile("" ::: "memory")

HODO_TRACEPOINT(cxx, point, (int, n));

namespace app
{
KEEP void leaf(int n, const std::string &text)
{
	HODO_EVENT(cxx, leaf, n);
	HODO_EVENT(cxx, text, n, HODO_F(text, text.c_str()));
	HODO_EVENT(cxx, empty);
	HODO_MARK(cxx, mark, "n is %d", n);
	trace_cxx_point(n);
	{
		HODO_SPAN(cxx, span, n);
	}
	HODO_BEGIN(cxx, request, n);
	HODO_END(cxx, request, n);
	STAY;
}

template <class T> KEEP void middle(T n)
{
	volatile char room[200];

	room[0] = (char)n;
	leaf(n, "some text that is not short");
	room[1] = (char)n;
	STAY;
}
} // namespace app

int main()
{
	for (int n = 0; n < 10; n++)
		app::middle<int>(n);
	STAY;
	return 0;
}
