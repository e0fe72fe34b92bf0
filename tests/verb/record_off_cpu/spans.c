/* SPDX-License-Identifier: MIT */
/*
 * spans.c SCENE - spans whose thread sleeps, computes, waits for a lock: off:sleeps, off:spins, off:locks.
 *
 * After a span, off:spun says how long it computed, by the thread's own clock.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000
#define TURNS 40000 /* of two threads that wake each other: a buffer holds some 40,000 records */

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec t = { 0, ns };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t))
		;
}

static void sleeps(void)
{
	HODO_SPAN(off, sleeps);
	sleep_ns(20 * MS);
}

static void spins(void)
{
	int64_t begin, ns;

	{
		HODO_SPAN(off, spins);
		begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		do
			ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		while (ns < 30 * MS);
	}
	HODO_EVENT(off, spun, HODO_F(ns, ns));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;

static void *hold(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&held);
	sleep_ns(30 * MS);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void locks(void)
{
	pthread_t holder;

	pthread_barrier_init(&held, NULL, 2);
	pthread_create(&holder, NULL, hold, NULL);
	pthread_barrier_wait(&held);
	{
		HODO_SPAN(off, locks);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	pthread_join(holder, NULL);
}

static void *end_elsewhere(void *unused)
{
	(void)unused;
	HODO_END(off, moved, HODO_F(id, 1));
	return NULL;
}

static void scene_one(void)
{
	pthread_t other;

	sleeps();
	spins();
	locks();
	HODO_BEGIN(off, moved, HODO_F(id, 1));
	pthread_create(&other, NULL, end_elsewhere, NULL);
	pthread_join(other, NULL);
}

static void *work(void *unused)
{
	(void)unused;
	sleeps();
	spins();
	return NULL;
}

/* Threads, a child that forks another one, and the program that this one becomes. */
static void scene_many(const char *self)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	if (fork() == 0) {
		work(NULL);
		if (fork() == 0) {
			execl(self, self, "work", NULL);
			_exit(1);
		}
		wait(NULL);
		_exit(0);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	wait(NULL);
}

/* Waits until the recording runs; then works once for each line of input. */
static void *respond(void *unused)
{
	char line[16];

	(void)unused;
	while (fgets(line, sizeof(line), stdin)) {
		work(NULL);
		puts("done");
		fflush(stdout);
	}
	return NULL;
}

static void scene_attach(void)
{
	pthread_t thread;

	puts("ready");
	fflush(stdout);
	pthread_create(&thread, NULL, respond, NULL);
	pthread_join(thread, NULL);
}

static int there[2], back[2];

static void *answer(void *unused)
{
	char c;

	(void)unused;
	while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
		;
	return NULL;
}

/* Together with all later threads on one CPU, where each wait is a switch. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

/* Switches more often than a stopped recorder can take. */
static void scene_storm(void)
{
	pthread_t other;
	char c = 0;

	sleeps();
	stay_here();
	if (pipe(there) || pipe(back))
		return;
	pthread_create(&other, NULL, answer, NULL);
	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		return;
	{
		HODO_SPAN(off, storm);
		for (int i = 0; i < TURNS && write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1; i++)
			;
	}
	puts("over");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		return;
	close(there[1]);
	pthread_join(other, NULL);
	sleeps();
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "one";

	if (strcmp(scene, "many") == 0)
		scene_many(argv[0]);
	else if (strcmp(scene, "work") == 0)
		work(NULL);
	else if (strcmp(scene, "attach") == 0)
		scene_attach();
	else if (strcmp(scene, "storm") == 0)
		scene_storm();
	else
		scene_one();
	return 0;
}
