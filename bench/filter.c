/* SPDX-License-Identifier: MIT */
/*
 * filter.c - the cost of an event with a filter, a rate limit or a trigger, which the options of hodo record
 * choose.
 *
 *	filter [-r ROUNDS] [-c CHUNKS] [-n ITERATIONS] [-w WARM-UP CHUNKS]
 *
 * Prints a line a round, "ROUND clock=NS fixed=NS keyed=NS": the median chunk's
 * nanoseconds an iteration, of a loop that reads the clock and stores 24 bytes, of an event of two numbers, and of
 * one with a text besides.
 */
#include "clock.h"
#include "loop.h"

#include <hodo/trace.h>
#include <unistd.h>

#define TEXTS 8

static struct bench_options options = { .rounds = 1, .chunks = 50, .iterations = 20000, .warmup = 20 };

static struct bench_slot clock_slots[BENCH_SLOTS] __attribute__((aligned(4096)));

/* In memory that the compiler cannot see through. */
static const char *volatile keys_[TEXTS] = { "admin:11747", "guest:20417", "other:30151", "staff:40009",
					     "admin:50031", "guest:60101", "other:70001", "staff:80111" };

static __attribute__((noinline)) void clock_loop(unsigned long n)
{
	bench_clock_loop(clock_slots, n);
}

static __attribute__((noinline)) void fixed_loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		HODO_EVENT(filter, fixed, HODO_F(shard, (int)(i | 4)), HODO_F(bytes, (uint64_t)i | 8192));
}

static __attribute__((noinline)) void keyed_loop(unsigned long n)
{
	const char *keys[TEXTS];

	for (int i = 0; i < TEXTS; i++)
		keys[i] = keys_[i];
	for (unsigned long i = 0; i < n; i++)
		HODO_EVENT(filter, keyed, HODO_F(shard, (int)(i | 4)), HODO_F(bytes, (uint64_t)i | 8192),
			   HODO_F(key, keys[i % TEXTS]));
}

static double measure(void (*loop)(unsigned long n))
{
	static double chunk[CHUNKS_MAX];

	for (unsigned long i = 0; i < options.warmup; i++)
		loop(options.iterations);
	for (unsigned long i = 0; i < options.chunks; i++) {
		uint64_t start_ns = bench_now_ns();

		loop(options.iterations);
		chunk[i] = (double)(bench_now_ns() - start_ns) / (double)options.iterations;
	}
	return bench_median(chunk, options.chunks);
}

int main(int argc, char **argv)
{
	bench_options(&options, argc, argv, "r:c:n:w:", "");
	bench_pin(bench_cpu(0));
	for (unsigned long round = 0; round < options.rounds; round++) {
		double clock = measure(clock_loop), fixed = measure(fixed_loop), keyed = measure(keyed_loop);

		printf("%lu clock=%.4f fixed=%.4f keyed=%.4f\n", round, clock, fixed, keyed);
		fflush(stdout);
	}
	return 0;
}
