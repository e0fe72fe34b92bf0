/* SPDX-License-Identifier: MIT */
/* crowd.c THREADS: this many threads are inside of one function at the same time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 1000

static pthread_barrier_t all;

static __attribute__((noinline)) long inside(long n)
{
	pthread_barrier_wait(&all);
	return n + 1;
}

static void *run(void *arg)
{
	return (void *)inside((long)arg);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[THREADS_MAX];
	long sum = 0;

	if (n < 1 || n > THREADS_MAX || pthread_barrier_init(&all, NULL, (unsigned)n) != 0)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(long)i) != 0)
			return 1;
	for (int i = 0; i < n; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}
