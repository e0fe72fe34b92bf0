/* SPDX-License-Identifier: MIT */
/* ticks.c - records as many events as each line of its input says, and answers; they do not compress well. */
#include <inttypes.h>
#include <stdio.h>

#include <hodo/trace.h>

int main(void)
{
	uint64_t random = 88172645463325252u;
	uint32_t serial = 0;
	unsigned int n;

	while (scanf("%u", &n) == 1) {
		for (; n > 0; n--, serial++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			HODO_EVENT(ticks, tick, serial, random);
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
