/* SPDX-License-Identifier: MIT */
/*
 * span.c - what an enabled span costs, its begin and its end together, beside the loop of clock.h.
 *
 *	span [-r ROUNDS] [-c CHUNKS] [-n ITERATIONS] [-w WARM-UP CHUNKS] [-p PAUSE_US] [-k KINDS]
 *
 * KINDS: c the clock loop, s HODO_SPAN with an int, r HODO_SPAN_CONTEXT with an int below a remote parent, h the same
 * below the span that the thread is in, t the traceparent of that as a text.
 */
#include "clock.h"
#include "loop.h"

#include <hodo/trace.h>
#include <unistd.h>

static struct bench_options options = { .rounds = 1, .chunks = 50, .iterations = 20000, .warmup = 20,
					.kinds = "csrht" };
static struct bench_slot slots[BENCH_SLOTS] __attribute__((aligned(4096)));

static __attribute__((noinline)) void span_one(int i)
{
	HODO_SPAN(bench, span, i);
}

static __attribute__((noinline)) void context_one(int i, const char *traceparent)
{
	HODO_SPAN_CONTEXT(bench, context, traceparent, i);
}

static __attribute__((noinline)) void span_loop(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		span_one((int)i);
}

static __attribute__((noinline)) void context_loop(const char *traceparent, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		context_one((int)i, traceparent);
}

static __attribute__((noinline)) void text_loop(unsigned long n)
{
	char text[HODO_TRACEPARENT_BYTES];

	for (unsigned long i = 0; i < n; i++) {
		hodo_span_traceparent(text);
		__asm__ volatile("" : : "r"(text) : "memory");
	}
}

/* Different ones, in memory that the compiler cannot see through. */
static const char *volatile remote = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

static void run_chunk(char kind)
{
	if (kind == 'c')
		bench_clock_loop(slots, options.iterations);
	else if (kind == 's')
		span_loop(options.iterations);
	else if (kind == 't')
		text_loop(options.iterations);
	else
		context_loop(kind == 'r' ? remote : NULL, options.iterations);
}

static double measure(char kind)
{
	static double chunk[CHUNKS_MAX];

	for (unsigned long i = 0; i < options.warmup + options.chunks; i++) {
		uint64_t start_ns = bench_now_ns();

		run_chunk(kind);
		if (i >= options.warmup)
			chunk[i - options.warmup] = (double)(bench_now_ns() - start_ns) / (double)options.iterations;
		if (options.pause_us)
			usleep((useconds_t)options.pause_us);
	}
	return bench_median(chunk, options.chunks);
}

int main(int argc, char **argv)
{
	bench_options(&options, argc, argv, "r:c:n:w:p:k:", "csrht");
	bench_pin(bench_cpu(0));
	for (unsigned long round = 0; round < options.rounds; round++) {
		HODO_SPAN_CONTEXT(bench, outer, NULL);
		printf("%lu", round);
		for (const char *k = options.kinds; *k; k++)
			printf(" %c=%.4f", *k, measure(*k));
		putchar('\n');
		fflush(stdout);
	}
	return 0;
}
