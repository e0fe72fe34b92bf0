/* SPDX-License-Identifier: MIT */
/* kinds.c - four functions, for slots of every kind: leaf() has one exit, both() has two, tail() ends in a jump. */
#include <stdio.h>

__attribute__((noinline)) int leaf(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

__attribute__((noinline)) int both(int n)
{
	if (n > 3)
		return leaf(n) * 3;
	__asm__ volatile("" ::: "memory");
	return n;
}

__attribute__((noinline)) int tail(int n)
{
	__asm__ volatile("" ::: "memory");
	return both(n + 1);
}

int main(int argc, char **argv)
{
	(void)argv;
	return printf("%d\n", tail(argc)) < 0;
}
