/* SPDX-License-Identifier: MIT */
/* threads.c - threads that run to their end, end in the middle, or are ended by others. */
#define _GNU_SOURCE
#include "hazards.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

COUNT(thread_fib);
COUNT(thread_run);
COUNT(cancel_wait);
COUNT(cancel_spin);
COUNT(cancel_run);
COUNT(cancel_spin_run);
COUNT(cancel_cleanup);
COUNT(exit_down);
COUNT(exit_run);
COUNT(key_destroy);

TRACED static long thread_fib(int n)
{
	ENTER(thread_fib);
	long r = n < 2 ? n : thread_fib(n - 1) + thread_fib(n - 2);

	LEAVE(thread_fib);
	return r;
}

TRACED static void *thread_run(void *arg)
{
	ENTER(thread_run);
	*(long *)arg = thread_fib(11);
	LEAVE(thread_run);
	return NULL;
}

/* 400 threads, in groups of four, one group after the other. */
int scene_threads(void)
{
	long sum = 0, result[4];
	pthread_t threads[4];

	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 4; k++)
			pthread_create(&threads[k], NULL, thread_run, &result[k]);
		for (int k = 0; k < 4; k++) {
			pthread_join(threads[k], NULL);
			sum += result[k];
		}
	}
	printf("threads: %ld\n", sum);
	return 0;
}

static volatile int cleaned, started;

TRACED static void cancel_cleanup(void *arg)
{
	ENTER(cancel_cleanup);
	cleaned += *(int *)arg;
	LEAVE(cancel_cleanup);
}

TRACED static int cancel_wait(int n)
{
	ENTER(cancel_wait);
	int r = 0, one = 1;

	pthread_cleanup_push(cancel_cleanup, &one);
	if (n == 0) {
		started = 1;
		for (;;)
			pause();
	}
	r = cancel_wait(n - 1) + 1;
	pthread_cleanup_pop(0);
	LEAVE(cancel_wait);
	return r;
}

/*
 * A handler of the ticks that is cancelled half way would not know whether it has counted itself: glibc before 2.41
 * cancels asynchronously while the thread is in a system call that is a cancellation point, also inside of handlers.
 */
UNTRACED static void block_ticks(void)
{
	sigset_t ticks;

	sigemptyset(&ticks);
	sigaddset(&ticks, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &ticks, NULL);
}

TRACED static void *cancel_run(void *arg)
{
	ENTER(cancel_run);
	block_ticks();
	cancel_wait(*(int *)arg);
	LEAVE(cancel_run);
	return NULL;
}

static volatile int spinning;

/* In a loop without calls, where an asynchronous cancellation may hit. */
TRACED static int cancel_spin(int n)
{
	ENTER(cancel_spin);
	int r = 0;

	if (n == 0) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		spinning = 1;
		while (spinning)
			;
	} else {
		r = cancel_spin(n - 1) + 1;
	}
	LEAVE(cancel_spin);
	return r;
}

TRACED static void *cancel_spin_run(void *arg)
{
	ENTER(cancel_spin_run);
	block_ticks();
	cancel_spin(*(int *)arg);
	LEAVE(cancel_spin_run);
	return NULL;
}

static int cancelled(void *(*run)(void *), int depth, volatile int *go)
{
	pthread_t thread;
	void *result = NULL;

	*go = 0;
	pthread_create(&thread, NULL, run, &depth);
	while (!*go)
		sched_yield();
	pthread_cancel(thread);
	pthread_join(thread, &result);
	return result == PTHREAD_CANCELED;
}

int scene_cancel(void)
{
	int n = 0;

	for (int i = 0; i < 50; i++)
		n += cancelled(cancel_run, i % 12, &started) + cancelled(cancel_spin_run, i % 12, &spinning);
	printf("cancelled: %d threads, %d cleanups\n", n, cleaned);
	return 0;
}

/* Asynchronously, at any instruction: traced functions that only compute are safe for that. */
static volatile int anywhere_started;

TRACED static int anywhere_work(int n)
{
	for (volatile int i = 0; i < 500; i++)
		; /* fewer events */
	int r = n < 2 ? n : anywhere_work(n - 1) + anywhere_work(n - 2);

	__asm__ volatile("" : "+r"(r));
	return r;
}

static void *anywhere_run(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	anywhere_started = 1;
	for (;;)
		anywhere_work(20);
	return arg;
}

int scene_cancel_anywhere(void)
{
	int n = 0;

	for (int i = 0; i < 200; i++) {
		n += cancelled(anywhere_run, 0, &anywhere_started);
		n += thread_fib(5) != 5;
	}
	printf("cancelled anywhere: %d\n", n);
	return 0;
}

static volatile int destroyed;

TRACED static void key_destroy(void *value)
{
	ENTER(key_destroy);
	destroyed += (int)(uintptr_t)value;
	LEAVE(key_destroy);
}

TRACED static int exit_down(int n)
{
	ENTER(exit_down);
	if (n == 0)
		pthread_exit((void *)7ul);
	int r = exit_down(n - 1) + 1;
	LEAVE(exit_down);
	return r;
}

TRACED static void *exit_run(void *arg)
{
	ENTER(exit_run);
	pthread_setspecific(*(pthread_key_t *)arg, (void *)2ul);
	exit_down(17);
	LEAVE(exit_run);
	return NULL;
}

int scene_pthread_exit(void)
{
	pthread_key_t key;
	void *result = NULL;
	long sum = 0;

	pthread_key_create(&key, key_destroy);
	for (int i = 0; i < 60; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, exit_run, &key);
		pthread_join(thread, &result);
		sum += (long)result;
	}
	printf("pthread_exit: %ld, destructors of keys %d\n", sum, destroyed);
	return 0;
}
