/* SPDX-License-Identifier: MIT */
/*
 * served.c - a program that nobody prepared, for added.py: threads call step() with a number that grows by one, until
 * standard input ends. It answers each line by "ok" once all threads have called a few times more; "fork" first runs
 * a child to its end. At the end it says how often each thread has called.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))
#define THREADS 3
#define PAUSE_US 400 /* between two calls */
#define FEW 20

static volatile long sink;
static volatile int stop;
static volatile long calls[THREADS];

APART static long part(long n)
{
	sink += n;
	return n + 1;
}

APART static long step(int thread, long n)
{
	long m = part(n);

	sink += m + thread; /* the line that has the probe */
	return m - n;
}

static void *run(void *arg)
{
	long thread = (long)arg, n = 0;

	while (!stop) {
		n += step((int)thread, n);
		calls[thread] = n;
		usleep(PAUSE_US);
	}
	return (void *)n;
}

static void go_on(void)
{
	for (int i = 0; i < THREADS; i++) {
		long until = calls[i] + FEW;

		while (calls[i] < until)
			usleep(1000);
	}
}

static void fork_one(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (long n = 0; n < 10; n++)
			step(THREADS, n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	pthread_t threads[THREADS];
	char line[100];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "fork\n") == 0)
			fork_one();
		go_on();
		puts("ok");
		fflush(stdout);
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++) {
		void *n;

		pthread_join(threads[i], &n);
		printf("%ld\n", (long)n);
	}
	return 0;
}
