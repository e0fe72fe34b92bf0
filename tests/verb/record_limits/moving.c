/* SPDX-License-Identifier: MIT */
/*
 * moving.c - a thread that changes its CPU inside of spans, none of which contains another.
 *
 * Usage: moving SPANS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include <hodo/trace.h>

/* The next of the CPUs that it may use. */
static void move(const cpu_set_t *all)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	for (int i = 0; i < n; i++) {
		HODO_SPAN(moving, work, HODO_F(i, i));
		/* Unequally often, so that the CPUs' packets are filled at different times. */
		if (i % 40 == 0 || i % 40 == 7)
			move(&all);
	}
	return 0;
}
