/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the cost of a traced call, beside the same call without a tracer's code and a loop that reads the
 * clock twice.
 *
 *	calls [-r ROUNDS] [-c CHUNKS] [-n CALLS] [-w WARM-UP CHUNKS] [-p PAUSE_US] [-k KINDS]
 *
 * KINDS is a text of letters: c the clock loop, f fib, a recursion, l a loop
 * that calls a small function; F and L the same compiled without a tracer's code.
 * A chunk of fib is the one with the most calls up to CALLS. Prints a line a round,
 * "ROUND KIND=NS …": the median chunk's nanoseconds a call, everything in it; for c
 * two turns of the loop. At the end "calls f=COUNT l=COUNT cpu_us=MICROSECONDS
 * wall_us=MICROSECONDS", the traced calls of all rounds, and the processor time and the time of all of this process.
 *
 *	calls -i [-r ROUNDS] [-c CHUNKS] [-n CALLS]
 *
 * What a tracer's code takes while nothing is traced: "ROUND plain_f=NS traced_f=NS again_f=NS
 * plain_l=…", in chunks that take turns; how far "again" is from "plain" is what this
 * measurement cannot see.
 */
#include "clock.h"
#include "loop.h"
#include "work.h"

#include <sys/resource.h>
#include <unistd.h>

static struct bench_options options = { .rounds = 1, .chunks = 50, .iterations = 20000, .warmup = 40, .kinds = "cfl" };

static struct bench_slot clock_slots[BENCH_SLOTS] __attribute__((aligned(4096)));
static unsigned long counted[256];
static volatile uint64_t sink;
/* The fib that fits a chunk, and its calls. */
static uint64_t fib_n, fib_calls;

static void choose_fib(void)
{
	uint64_t a = 1, b = 1; /* fib(n), fib(n + 1) */

	for (fib_n = 1; 2 * (a + b) - 1 <= options.iterations; fib_n++) {
		uint64_t next = a + b;

		a = b;
		b = next;
	}
	fib_calls = 2 * b - 1;
}

static __attribute__((noinline)) uint64_t traced_loop(uint64_t x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = traced_step(x);
	return x;
}

static __attribute__((noinline)) uint64_t plain_loop(uint64_t x, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		x = plain_step(x);
	return x;
}

/* Runs a chunk; returns its number of calls. */
static unsigned long run_chunk(char kind)
{
	switch (kind) {
	case 'c':
		bench_clock_loop(clock_slots, options.iterations);
		return options.iterations / 2;
	case 'f':
		sink = traced_fib(fib_n);
		return fib_calls;
	case 'F':
		sink = plain_fib(fib_n);
		return fib_calls;
	case 'l':
		sink = traced_loop(sink, options.iterations);
		return options.iterations;
	default:
		sink = plain_loop(sink, options.iterations);
		return options.iterations;
	}
}

static double chunk_ns(char kind)
{
	uint64_t start_ns = bench_now_ns();
	unsigned long calls = run_chunk(kind);
	double ns = (double)(bench_now_ns() - start_ns) / (double)calls;

	counted[(unsigned char)kind] += calls;
	if (options.pause_us)
		usleep((useconds_t)options.pause_us);
	return ns;
}

static double measure(char kind)
{
	static double chunks[CHUNKS_MAX];

	for (unsigned long i = 0; i < options.warmup; i++)
		chunk_ns(kind);
	for (unsigned long i = 0; i < options.chunks; i++)
		chunks[i] = chunk_ns(kind);
	return bench_median(chunks, options.chunks);
}

static void measure_idle(char traced)
{
	static double plain_ns[CHUNKS_MAX], traced_ns[CHUNKS_MAX], again_ns[CHUNKS_MAX];
	char plain = traced & ~0x20;

	for (unsigned long i = 0; i < options.chunks; i++) {
		plain_ns[i] = chunk_ns(plain);
		traced_ns[i] = chunk_ns(traced);
		again_ns[i] = chunk_ns(plain);
	}
	printf(" plain_%c=%.4f traced_%c=%.4f again_%c=%.4f", traced, bench_median(plain_ns, options.chunks), traced,
	       bench_median(traced_ns, options.chunks), traced, bench_median(again_ns, options.chunks));
}

static double cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	uint64_t start_ns = bench_now_ns();

	bench_options(&options, argc, argv, "r:c:n:w:p:k:i", "cflFL");
	choose_fib();
	bench_pin(bench_cpu(0));
	for (unsigned long round = 0; round < options.rounds; round++) {
		printf("%lu", round);
		if (options.idle) {
			measure_idle('f');
			measure_idle('l');
		} else {
			for (const char *k = options.kinds; *k; k++)
				printf(" %c=%.4f", *k, measure(*k));
		}
		putchar('\n');
		fflush(stdout);
	}
	printf("calls f=%lu l=%lu cpu_us=%.0f wall_us=%.0f\n", counted['f'], counted['l'], cpu_us(),
	       (double)(bench_now_ns() - start_ns) / 1000);
	return 0;
}
