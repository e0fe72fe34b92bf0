/* SPDX-License-Identifier: MIT */
/* plain.c - a program, and a library (LIBRARY), that nobody prepared. It is known how often functions are called. */
#define CODE __attribute__((noipa)) /* not inlined, and not split */

int library_work(int n);

#ifdef LIBRARY
CODE int library_part(int n)
{
	return n * 3 + 1;
}

__attribute__((visibility("default"))) CODE int library_work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += library_part(i);
	return sum;
}
#else
#include <stdio.h>
#include <stdlib.h>

#include "plain_parts.h"

static volatile int table[64];

CODE static int large(int n)
{
#define LINE(k) table[(n + (k)) & 63] += table[(n * (k)) & 63] ^ (k);
#define LINES(k) LINE(k) LINE(k + 1) LINE(k + 2) LINE(k + 3) LINE(k + 4) LINE(k + 5) LINE(k + 6) LINE(k + 7)
	LINES(1) LINES(11) LINES(21) LINES(31)
	return small(table[n & 63]);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;

	for (int i = 0; i < n; i++)
		sum += large(i) + small(i);
	printf("%d\n", sum + library_work(n));
	return 7;
}
#endif
