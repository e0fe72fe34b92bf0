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

#endif
