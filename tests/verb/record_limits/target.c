/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program that sends a known number of events.
 *
 * Usage: target EVENTS [PROCESSES [THREADS [PACE [FILE]]]]
 *
 * Each thread of each process emits limits:tick EVENTS times, with its number and a
 * text that grows, and rests after every PACE events (0: never). EVENTS 0: for ever.
 * FILE gets the pid first. THREADS 0: one thread, on one CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hodo/trace.h>

static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
static long events, pace;

static void rest(void)
{
	struct timespec t = { 0, 1000000 };

	nanosleep(&t, NULL);
}

static void *send_events(void *arg)
{
	long thread = (long)arg;

	for (long i = 0; events == 0 || i < events; i++) {
		if (i % 7 == 3)
			HODO_EVENT(limits, text, HODO_F(n, i), HODO_F(thread, thread),
				   HODO_F(s, &text[sizeof(text) - 1 - i % sizeof(text)]));
		else
			HODO_EVENT(limits, tick, HODO_F(n, i), HODO_F(thread, thread));
		if (pace && i % pace == pace - 1)
			rest();
	}
	return NULL;
}

static void on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int run(long threads)
{
	pthread_t t[64];

	if (threads == 0) {
		on_one_cpu();
		send_events(NULL);
	}
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, send_events, (void *)i);
	for (long i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	long processes = argc > 2 ? atol(argv[2]) : 1, threads = argc > 3 ? atol(argv[3]) : 0;

	events = argc > 1 ? atol(argv[1]) : 0;
	pace = argc > 4 ? atol(argv[4]) : 0;
	if (argc > 5) {
		FILE *f = fopen(argv[5], "w");

		if (f) {
			fprintf(f, "%d\n", (int)getpid());
			fclose(f);
		}
	}
	for (long i = 1; i < processes; i++)
		if (fork() == 0)
			return run(threads);
	run(threads);
	while (wait(NULL) > 0)
		;
	return 3;
}
