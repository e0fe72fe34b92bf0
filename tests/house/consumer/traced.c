/* SPDX-License-Identifier: MIT */
/* traced.c - a program with events, which uses nothing else of Hodoscope. */
#include <hodo/trace.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		HODO_EVENT(consumer, tick, i);
	HODO_MARK(consumer, done, "after %d ticks", 1000);
	return 0;
}
