/* SPDX-License-Identifier: MIT */
/*
 * spans.c - threads that open and close scopes of few names in a table of few slots, while signal handlers that do the
 * same interrupt them anywhere; a thread between two accesses waits, yields, or is interrupted there.
 *
 * Times are numbers that no two scopes share: an end that finds a begin must have found its own. At the end, without
 * other threads, a thread finds all of them.
 *
 *            | thread                  | handler           | others
 *   thread   | one after the other     | stands still      | concurrent
 *   handler  | on top of it, whole     | none within it    | concurrent
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <core/atomic.h>
#include <user/event/spans.h>

#define THREADS 6
#define NAMES 2
#define DEPTH 5
#define ROUNDS 60000

static int64_t now; /* the last time */
static uint64_t opened, found, wrong;
static __thread uint32_t tid, chance;
static __thread bool in_handler;

static uint32_t next_random(void)
{
	chance = chance * 1103515245u + 12345u;
	return chance >> 16;
}

/* A point between two accesses of spans.c. */
void hodo_inject(enum hodo_inject_point point)
{
	uint32_t what = next_random() % 64;

	if (what == 0)
		sched_yield();
	else if (what == 1 && !in_handler)
		raise(SIGUSR1);
	else if (what == 2)
		for (volatile int i = 0; i < 300; i++)
			;
}

static void scope(int depth)
{
	struct hodo_span span = { .name = 1 + next_random() % NAMES, .scope = true };
	int64_t began = hodo_add(&now, 1) + 1, at = 0;

	hodo_spans_begin(&span, tid, NULL, 0, began);
	for (uint32_t inner = next_random() % 3; inner && depth > 0; inner--)
		scope(depth - 1);
	hodo_add(&opened, 1);
	if (!hodo_spans_end(&span, tid, NULL, 0, &at))
		return;
	hodo_add(&found, 1);
	if (at != began)
		hodo_add(&wrong, 1);
}

static void handler(int number)
{
	in_handler = true;
	scope(1);
	in_handler = false;
}

static void *run(void *arg)
{
	tid = (uint32_t)(uintptr_t)arg;
	chance = tid * 7919u;
	for (int i = 0; i < ROUNDS; i++)
		scope(DEPTH - 1);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread[THREADS];
	uint64_t together;

	sigaction(SIGUSR1, &action, NULL);
	if (!hodo_spans_prepare())
		return 2;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)(i + 1)) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	together = opened;
	printf("%lu scopes of %d threads, %lu with a duration, %lu wrong\n", (unsigned long)opened, THREADS,
	       (unsigned long)found, (unsigned long)wrong);
	if (wrong || found == 0 || found == opened)
		return 1;
	/* What others have left is dropped as the oldest: one thread alone soon finds all of its begins. */
	found = opened = 0;
	run((void *)(uintptr_t)(THREADS + 1));
	printf("%lu of %lu alone, after %lu\n", (unsigned long)found, (unsigned long)opened, (unsigned long)together);
	return wrong || found != opened;
}
