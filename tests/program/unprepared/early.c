/* SPDX-License-Identifier: MIT */
/* early.c - a program that nobody prepared, for early.py: THREADS threads, one after another, half of them in memory
 * of earlier ones; each calls work() once. Usage: early THREADS */
#include <pthread.h>
#include <stdlib.h>

#define AT_ONCE 4

__attribute__((noipa)) void *work(void *p)
{
	return p;
}

int main(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 0;

	for (; left > 0; left -= AT_ONCE) {
		pthread_t threads[AT_ONCE];

		for (int i = 0; i < AT_ONCE; i++)
			if (pthread_create(&threads[i], NULL, work, NULL) != 0)
				return 1;
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
