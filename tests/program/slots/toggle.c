/* SPDX-License-Identifier: MIT */
/*
 * toggle.c KIND [CYCLES] - threads run w_work() while slots are turned on and off: results stay right, no tracer is
 * called afterwards, and then all text is as before. A signal interrupts the threads now and then, so that
 * they are found at any instruction.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "slots.h"
#include "work.h"

#define THREADS 4

static atomic_bool stop;
static atomic_long wrong, rounds;

/* From functions without state: the threads share no variable. */
static long compute(int i)
{
	struct w_large l = w_struct(i, 2, 0.5);

	return w_tail(i) + w_recurse(i % 7) + (long)w_float(i, 2.5f, 3) + l.a + l.d[1] + w_six(i, 2, 3, 4, 5, 6, 7, 8);
}

static void *run(void *arg)
{
	long want[64];

	for (int i = 0; i < 64; i++)
		want[i] = compute(i);
	while (!atomic_load(&stop)) {
		for (int i = 0; i < 64; i++) {
			if (compute(i) != want[i])
				atomic_fetch_add(&wrong, 1);
		}
		atomic_fetch_add(&rounds, 1);
	}
	return 0;
}

static void on_signal(int sig)
{
	w_leaf(sig);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "exact";
	int cycles = argc > 2 ? atoi(argv[2]) : 2000;
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t threads[THREADS];
	unsigned long before;

	sigaction(SIGUSR1, &sa, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], 0, run, 0);
	for (int i = 0; i < cycles; i++) {
		int error = slots_on(i % 3 ? 0 : "w_t*,w_recurse");

		if (error) {
			printf("FAILED register %d\n", error);
			return 1;
		}
		pthread_kill(threads[i % THREADS], SIGUSR1);
		if (i % 16 == 0)
			sched_yield();
		slots_off();
	}
	before = slots_total();
	for (long r = atomic_load(&rounds); atomic_load(&rounds) < r + THREADS;)
		sched_yield();
	if (slots_total() != before) {
		printf("FAILED called when off\n");
		return 1;
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	if (atomic_load(&wrong) || !before || slots_differ(stdout, kind)) {
		printf("FAILED wrong %ld, entries %lu\n", atomic_load(&wrong), before);
		return 1;
	}
	printf("%d cycles, %lu entries\n", cycles, before);
	return 0;
}
