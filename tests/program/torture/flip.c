/* SPDX-License-Identifier: MIT */
/*
 * flip.c - sites switched on and off while other threads run them.
 *
 *	flip ROUNDS
 *
 * Three threads run sites, inlined and unrolled; the main thread switches them
 * ROUNDS times. It records quiet:off when hodo_disable() has returned and
 * quiet:on before it calls hodo_enable(): an event between the two is late
 * (late.c looks for them). At the end each site runs once more while on and
 * once while off, as flip:last with n = 1 and 2.
 */
#include <hodo/control.h>
#include <hodo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int stop;
static uint64_t passes[3];

static void work(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static inline void site(int who, uint64_t i)
{
	HODO_EVENT(flip, hit, who, i);
}

static void *run(void *arg)
{
	int who = (int)(intptr_t)arg;
	uint64_t i;

	for (i = 0; !stop; i++) {
		site(who, i);
		work(500 + (int)(i % 1000));
		for (int k = 0; k < 4; k++)
			HODO_EVENT(flip, loop, who, k);
		site(who, i);
	}
	passes[who] = i;
	return NULL;
}

static void last(int n)
{
	HODO_EVENT(flip, last, n);
}

static int set(int on)
{
	int n = on ? hodo_enable("flip:*") : hodo_disable("flip:*");

	if (n != 3)
		fprintf(stderr, "flip: %s: %d\n", on ? "enable" : "disable", n);
	return n == 3;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i);
	for (long i = 0; i < rounds; i++) {
		if (!set(0))
			return 1;
		HODO_EVENT(quiet, off, i);
		work((int)(i % 100) * 20);
		HODO_EVENT(quiet, on, i);
		if (!set(1))
			return 1;
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	last(1);
	if (!set(0))
		return 1;
	last(2);
	printf("%ld rounds, %lu %lu %lu passes\n", rounds, (unsigned long)passes[0], (unsigned long)passes[1],
	       (unsigned long)passes[2]);
	return 0;
}
