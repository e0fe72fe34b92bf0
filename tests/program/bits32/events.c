/* SPDX-License-Identifier: MIT */
/* events.c - a thousand events. */
#include <hodo/trace.h>

int main(void)
{
	for (int i = 0; i < 1000; i++)
		HODO_EVENT(bits, event, i);
	return 0;
}
