/* SPDX-License-Identifier: MIT */
/*
 * probed.c - a program that nobody prepared, for events.py: for each line of its standard input it prints its values
 * once, in lines that begin with the function's name.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))
#define THREADS 4

struct part {
	int64_t number;
	const char *name;
	struct part *next;
	unsigned low : 3, high : 13;
	bool good;
	char text[8];
};

static volatile long sink;

APART static int numbers(int a, unsigned char b, long c, double d, bool e)
{
	sink += a + b + c + (long)d + e; /* the line that has the probe */
	return a * 2;
}

APART static long parts(const struct part *part, const char *text, const void *bytes, int len)
{
	long result = part ? part->number : text && bytes;

	sink += len;
	return result;
}

APART static long deep(long n)
{
	long below = n > 0 ? deep(n - 1) : 0;

	sink += n;
	return below + n;
}

APART static long tail(long n)
{
	return n < 0 ? n : deep(n);
}

static inline __attribute__((always_inline)) long twice(long n)
{
	sink += n;
	return 2 * n;
}

APART static long outer(long n)
{
	return twice(n + 1) + sink;
}

APART static void leaves(jmp_buf *to, int n)
{
	sink += n;
	if (n)
		longjmp(*to, n);
	sink += 2; /* more code than a jump is long */
}

static void *run(void *arg)
{
	long n = (long)arg;

	for (long i = 0; i < 100; i++)
		deep(n * 10 + i % 3);
	return arg;
}

/* A text at the end of a page, which no mapped page follows. */
static char *page_end(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 4096, 4096);
	memcpy(page + 4096 - 4, "last", 4);
	return page + 4096;
}

static void say(void)
{
	static struct part second = { .number = -7, .name = "second", .low = 5, .high = 8000, .good = true, .text = "eight888" };
	static struct part first = { .number = 1ll << 40, .name = "first", .next = &second, .text = "one" };
	struct part wrong = { .name = (const char *)16, .next = (struct part *)0x7fffdead0000 };
	char *end = page_end(), longer[400];
	jmp_buf to;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	for (int i = -2; i < 3; i++)
		numbers(i, (unsigned char)i, i * 1000000000l, i / 4.0, i & 1);
	parts(&first, "a text", &second.number, 8);
	parts(&first, longer, longer, 4000);
	parts(&wrong, end - 4, end - 4, 100);
	parts(NULL, NULL, NULL, -1);
	parts((const struct part *)(end - 8), end, end, 1);
	for (long i = 0; i < 3; i++)
		outer(10 * i);
	tail(-1);
	tail(4);
	if (!setjmp(to))
		leaves(&to, 3);
	leaves(&to, 0);
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int c; (c = getchar()) != EOF;) {
		say();
		for (long i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, run, (void *)i);
		for (long i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		printf("%ld\n", deep(3));
		fflush(stdout);
	}
	return 0;
}
