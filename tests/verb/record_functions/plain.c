/* SPDX-License-Identifier: MIT */
/* plain.c - a program with one event, whose functions cannot be traced. */
#include <hodo/trace.h>

int main(void)
{
	HODO_EVENT(plain, ran);
	return 0;
}
