/* SPDX-License-Identifier: MIT */
/*
 * loop.h - timing for the benchmark programs: what is measured is a chunk of
 * iterations, and what counts is the median of many chunks, since a chunk in
 * which the thread lost its CPU says nothing.
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNKS_MAX 100000

static inline uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((noreturn)) void bench_fail(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The index-th CPU that this process may use, counted from the last: the first is busy with interrupts. */
static inline int bench_cpu(int index)
{
	static cpu_set_t allowed;
	static bool known;

	/* Read once: pinning the main thread would change the answer. */
	if (!known && sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		bench_fail("sched_getaffinity");
	known = true;
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &allowed) && index-- == 0)
			return cpu;
	errno = ENODEV;
	bench_fail("not enough CPUs");
}

static inline void bench_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		bench_fail("sched_setaffinity");
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), bench_compare);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The value of option -NAME NUMBER. */
static inline unsigned long bench_number(const char *text, unsigned long min, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || n < min || n > max) {
		fprintf(stderr, "bench: %s: not a number from %lu to %lu\n", text, min, max);
		exit(2);
	}
	return n;
}

/* How often, and of which kinds, a program measures; what it does not take is not used. */
struct bench_options {
	unsigned long rounds, chunks, iterations, warmup, pause_us;
	const char *kinds;
	bool idle;
};

/* Those of the command line that are among `letters`, of which 'k' takes some of `kinds`; else ends the program. */
static inline void bench_options(struct bench_options *o, int argc, char **argv, const char *letters, const char *kinds)
{
	const struct {
		unsigned long *value, min, max;
	} numbers[256] = {
		['r'] = { &o->rounds, 1, 1000 },	 ['c'] = { &o->chunks, 1, CHUNKS_MAX },
		['n'] = { &o->iterations, 10, 100000000 }, ['w'] = { &o->warmup, 0, CHUNKS_MAX },
		['p'] = { &o->pause_us, 0, 999999 },
	};
	int c;

	while ((c = getopt(argc, argv, letters)) != -1) {
		if (c == 'i')
			o->idle = true;
		else if (c == 'k' && strspn(optarg, kinds) == strlen(optarg))
			o->kinds = optarg;
		else if (numbers[c].value)
			*numbers[c].value = bench_number(optarg, numbers[c].min, numbers[c].max);
		else
			exit(2);
	}
}

/* -r ROUNDS alone. */
static inline unsigned long bench_rounds(int argc, char **argv)
{
	struct bench_options o = { .rounds = 1 };

	bench_options(&o, argc, argv, "r:", "");
	return o.rounds;
}

static inline double bench_ms_since(uint64_t start_ns)
{
	return (double)(bench_now_ns() - start_ns) / 1e6;
}

#endif
