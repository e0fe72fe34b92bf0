/* SPDX-License-Identifier: MIT */
/* plain.c - a program whose functions cannot be traced, with one event. */
#include <hodo/trace.h>

int main(void)
{
	HODO_EVENT(plain, ran);
	return 0;
}
