/* SPDX-License-Identifier: MIT */
/*
 * rate.c - a program that writes events at a rate, and runs late where it cannot.
 *
 *	rate EVENTS EVENTS_PER_S
 *
 * Prints "rate s=SECONDS due_s=SECONDS n=EVENTS": how long it took, and how long it should have taken.
 */
#include "loop.h"
#include "sites.h"

#define SLICE_NS 100000

int main(int argc, char **argv)
{
	uint64_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0, rate = n ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t slice = rate * SLICE_NS / 1000000000, start_ns, done = 0;

	if (!slice) {
		fprintf(stderr, "usage: rate EVENTS EVENTS_PER_S, 10,000 a second at least\n");
		return 2;
	}
	start_ns = bench_now_ns();
	while (done < n) {
		for (uint64_t end = done + slice < n ? done + slice : n; done < end; done++)
			BENCH_NUM((int)done, done * 7);
		/* As a program that has other work to do meanwhile. */
		while (bench_now_ns() - start_ns < done / slice * SLICE_NS)
			;
	}
	printf("rate s=%.6f due_s=%.6f n=%lu\n", (double)(bench_now_ns() - start_ns) / 1e9, (double)n / (double)rate,
	       (unsigned long)n);
	return 0;
}
