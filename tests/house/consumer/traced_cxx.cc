/* SPDX-License-Identifier: MIT */
/* traced_cxx.cc - the same in C++, from a template. */
#include <hodo/trace.h>

template <class T> static void tick(T n)
{
	for (T i = 0; i < n; i++)
		HODO_EVENT(consumer, tick, i);
}

int main()
{
	tick<int>(1000);
	HODO_MARK(consumer, done, "after %d ticks", 1000);
	return 0;
}
