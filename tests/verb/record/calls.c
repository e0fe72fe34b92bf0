/* SPDX-License-Identifier: MIT */
/* calls.c N - calls a function N times. */
#include <stdlib.h>

static __attribute__((noinline, noclone)) int called(int n)
{
	__asm__ volatile("");
	return n;
}

int main(int argc, char **argv)
{
	for (long n = argc == 2 ? atol(argv[1]) : 0; n > 0; n--)
		called((int)n);
	return 0;
}
