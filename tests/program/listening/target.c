/* SPDX-License-Identifier: MIT */
/*
 * target.c - traced code that never rests, for recordings that begin and end while it runs: THREADS threads, each
 * with a counter in every event, and signals whose handlers trace. Runs until its standard input ends; exits with 0
 * if it found itself intact.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <hodo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_bool stop;
static _Thread_local uint64_t signals;

static void on_signal(int signal)
{
	int saved = errno;

	HODO_EVENT(live, signalled, HODO_F(n, signals++));
	errno = saved;
}

static uint64_t step(unsigned thread, uint64_t n, const char *text)
{
	HODO_EVENT(live, tick, HODO_F(thread, thread), HODO_F(n, n));
	if (n % 8 == 0)
		HODO_EVENT(live, text, HODO_F(thread, thread), HODO_F(n, n), HODO_F(text, text));
	return n + 1;
}

static void *work(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg;
	uint64_t n = 0;
	char text[32];

	snprintf(text, sizeof(text), "thread %u at work", thread);
	errno = 4711;
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		n = step(thread, n, text);
	if (errno != 4711) {
		fprintf(stderr, "errno has changed to %d\n", errno);
		_exit(3);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	struct itimerval timer = { { 0, 200 }, { 0, 200 } };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread[64];
	char byte;

	sigaction(SIGALRM, &action, NULL);
	if (argc > 2)
		setitimer(ITIMER_REAL, &timer, NULL);
	for (unsigned i = 0; i < threads && i < 64; i++)
		pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0 || errno == EINTR)
		errno = 0;
	atomic_store(&stop, true);
	for (unsigned i = 0; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	puts("intact");
	return 0;
}
