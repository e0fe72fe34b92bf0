/* SPDX-License-Identifier: MIT */
/*
 * spans.c - a program whose spans and counters follow commands, one per line on a FIFO (argv[1]); it answers each
 * with a line "done" on argv[2] after carrying it out:
 *
 *   spans N          N spans, each with another inside
 *   move N           N spans that begin on one CPU and end on another
 *   open ID          begins a job; close ID, from another thread, ends it
 *   named TEXT       begins a span with this text as its id; unnamed TEXT ends it
 *   level N, ratio N counters: a whole number, also below 0; a quarter of one
 *   calls N          N calls of work()
 *   burn MS          uses a CPU for this long, inside of a span
 *   exit STATUS
 */
#define _GNU_SOURCE
#include <hodo/trace.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void inner(long i)
{
	HODO_SPAN(tops, inner, i);
}

static void spans(long n)
{
	for (long i = 0; i < n; i++) {
		HODO_SPAN(tops, outer, i);
		inner(i);
	}
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* The first two CPUs that this process may use; twice the same one if there is only one. */
static void find_cpus(int cpu[2])
{
	cpu_set_t set;
	int n = 0;

	cpu[0] = cpu[1] = 0;
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		cpu[1] = i;
		if (n++ == 0)
			cpu[0] = i;
	}
}

static void move(long n)
{
	cpu_set_t before;
	int cpu[2];

	sched_getaffinity(0, sizeof(before), &before);
	find_cpus(cpu);
	for (long i = 0; i < n; i++) {
		run_on(cpu[i % 2]);
		HODO_SPAN(tops, moved, i);
		run_on(cpu[(i + 1) % 2]);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

static void *end_job(void *id)
{
	long i = *(long *)id;

	HODO_END(tops, job, i);
	return NULL;
}

static void end_elsewhere(long id)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_job, &id);
	pthread_join(thread, NULL);
}

static void burn(long ms)
{
	HODO_SPAN(tops, burn, ms);
	struct timespec from, t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((t.tv_sec - from.tv_sec) * 1000 + (t.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

__attribute__((noinline)) long work(long i)
{
	__asm__ volatile("" : "+r"(i));
	return i + 1;
}

static void calls(long n)
{
	for (long i = 0; i < n;)
		i = work(i);
}

static void obey(const char *line)
{
	char name[300] = "";
	long n = 0;

	if (sscanf(line, "named %299s", name) == 1)
		HODO_BEGIN(tops, named, HODO_STR(name, strlen(name)));
	else if (sscanf(line, "unnamed %299s", name) == 1)
		HODO_END(tops, named, HODO_STR(name, strlen(name)));
	else if (sscanf(line, "%299s %ld", name, &n) != 2)
		exit(99);
	if (strcmp(name, "spans") == 0)
		spans(n);
	else if (strcmp(name, "move") == 0)
		move(n);
	else if (strcmp(name, "open") == 0)
		HODO_BEGIN(tops, job, n);
	else if (strcmp(name, "close") == 0)
		end_elsewhere(n);
	else if (strcmp(name, "level") == 0)
		HODO_COUNTER(tops, level, n);
	else if (strcmp(name, "ratio") == 0)
		HODO_COUNTER(tops, ratio, (double)n / 4);
	else if (strcmp(name, "calls") == 0)
		calls(n);
	else if (strcmp(name, "burn") == 0)
		burn(n);
	else if (strcmp(name, "exit") == 0)
		exit((int)n);
}

int main(int argc, char **argv)
{
	FILE *in = argc > 2 ? fopen(argv[1], "r") : NULL, *out = in ? fopen(argv[2], "w") : NULL;
	char line[400];

	while (out && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		obey(line);
		fputs("done\n", out);
		fflush(out);
	}
	return out ? 0 : 98;
}
