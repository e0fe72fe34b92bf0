/* SPDX-License-Identifier: MIT */
/*
 * opened.c - opens, uses and closes libraries (opened_part.c), which nobody prepared.
 *
 *	opened TIMES STEPS PATH...
 *
 * One thread for each path, at the same time; each opens its library TIMES times. Prints how often the semaphore was
 * up in all. Does it once more for each line of its standard input.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int times;
static long steps, up;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, dlerror());
	exit(1);
}

static void *use(void *path)
{
	for (int i = 0; i < times; i++) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		long (*work)(long, long *), sum;

		if (!library)
			fail(path);
		work = (long (*)(long, long *))dlsym(library, "part_work");
		if (!work)
			fail("part_work");
		__atomic_fetch_add(&up, work(steps, &sum), __ATOMIC_RELAXED);
		if (sum != 4 + steps + 3 * steps * (steps - 1) / 2) {
			fprintf(stderr, "%ld\n", sum);
			exit(2);
		}
		if (dlclose(library) != 0)
			fail("dlclose");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[16];

	times = atoi(argv[1]);
	steps = atol(argv[2]);
	do {
		up = 0;
		for (int i = 3; i < argc; i++)
			pthread_create(&thread[i - 3], NULL, use, argv[i]);
		for (int i = 3; i < argc; i++)
			pthread_join(thread[i - 3], NULL);
		printf("%ld\n", up);
		fflush(stdout);
	} while (getchar() != EOF);
	return 0;
}
