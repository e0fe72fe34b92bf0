/* SPDX-License-Identifier: MIT */
/*
 * idle.c - what a disabled event costs: the same loop with and without it.
 *
 *	idle [-r ROUNDS] [-c CHUNKS] [-n ITERATIONS]
 *
 * Prints a line a round: "ROUND plain=NS site=NS again=NS", nanoseconds an
 * iteration. "again" is the loop without the event once more: its distance from "plain" is the error of this
 * measurement. The driver disassembles loop_plain and loop_site, which are alike but for the event.
 */
#include "loop.h"
#include "sites.h"

#include <unistd.h>

#define STEP(x) ((x) * 6364136223846793005u + 1442695040888963407u)

uint64_t loop_plain(uint64_t x, unsigned long n);
uint64_t loop_site(uint64_t x, unsigned long n);

__attribute__((noinline, aligned(64))) uint64_t loop_plain(uint64_t x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = STEP(x);
	return x;
}

__attribute__((noinline, aligned(64))) uint64_t loop_site(uint64_t x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		x = STEP(x);
		BENCH_NUM((int)i, x);
	}
	return x;
}

static double chunk_ns(uint64_t (*loop)(uint64_t, unsigned long), unsigned long n)
{
	static volatile uint64_t sink;
	uint64_t start_ns = bench_now_ns();

	sink = loop(sink, n);
	return (double)(bench_now_ns() - start_ns) / (double)n;
}

int main(int argc, char **argv)
{
	static double plain[CHUNKS_MAX], site[CHUNKS_MAX], again[CHUNKS_MAX];
	struct bench_options o = { .rounds = 1, .chunks = 200, .iterations = 50000 };

	bench_options(&o, argc, argv, "r:c:n:", "");
	bench_pin(bench_cpu(0));
	if (argc > 100) /* never: an event that a recording can enable in place of the measured one */
		BENCH_STR(0, "");
	for (unsigned long round = 0; round < o.rounds; round++) {
		for (unsigned long i = 0; i < o.chunks; i++) {
			plain[i] = chunk_ns(loop_plain, o.iterations);
			site[i] = chunk_ns(loop_site, o.iterations);
			again[i] = chunk_ns(loop_plain, o.iterations);
		}
		printf("%lu plain=%.4f site=%.4f again=%.4f\n", round, bench_median(plain, o.chunks),
		       bench_median(site, o.chunks), bench_median(again, o.chunks));
		fflush(stdout);
	}
	return 0;
}
