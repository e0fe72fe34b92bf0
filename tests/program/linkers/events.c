/* SPDX-License-Identifier: MIT */
/* events.c - three events, and functions that are called 1, 2 and 20 times. */
#include <hodo/trace.h>

__attribute__((noinline)) static int leaf(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

__attribute__((noinline)) static int middle(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		HODO_EVENT(builds, event, i);
	return middle(10) + middle(10) != 110;
}
