/* SPDX-License-Identifier: MIT */
/* work.c - see work.h; WORK is the prefix of its functions. */
#include "work.h"

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b
#define FIB PASTE(WORK, _fib)
#define STEP PASTE(WORK, _step)

__attribute__((noinline, aligned(64))) uint64_t FIB(uint64_t n)
{
	uint64_t a, b;

	if (n < 2)
		return n;
	a = FIB(n - 1);
	b = FIB(n - 2);
	__asm__ volatile("" : "+r"(a), "+r"(b)); /* neither call may become a loop */
	return a + b;
}

__attribute__((noinline, aligned(64))) uint64_t STEP(uint64_t x)
{
	return x * 6364136223846793005u + 1442695040888963407u;
}
