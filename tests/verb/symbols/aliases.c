/* SPDX-License-Identifier: MIT */
/* aliases.c - a function with two names. With an argument it waits for a line first, and for another at the end. */
#include <stdio.h>

int _work(int n);
int zwork(int n) __attribute__((weak, alias("_work")));

__attribute__((noinline)) int _work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

__attribute__((noinline)) int other(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 2;
}

int main(int argc, char **argv)
{
	int n = 0;

	(void)argv;
	if (argc > 1) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	for (int i = 0; i < 3; i++)
		n += zwork(n) + other(n);
	if (argc > 1) {
		puts("done");
		fflush(stdout);
		getchar();
	}
	return n == 0;
}
