/* SPDX-License-Identifier: MIT */
/* emit N [CPU] - makes N events, numbered from 0, on CPU 0 or the given one. */
#include "ring.h"

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;

	pin(argc > 2 ? atoi(argv[2]) : 0);
	for (uint32_t i = 0; i < n; i++)
		emit(i);
	return 0;
}
