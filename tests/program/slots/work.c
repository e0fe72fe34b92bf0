/* SPDX-License-Identifier: MIT */
/* work.c - functions of each shape, called a known number of times. Built in many ways, into a program or a library. */
#include <stdio.h>
#include "work.h"

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa))
#endif
#define KEEP __asm__ volatile("" ::: "memory")

static int sum;

ALONE int w_leaf(int a)
{
	KEEP;
	return a * 3 + 1;
}
ALONE void w_void(int a)
{
	sum += a;
	KEEP;
}
ALONE void w_void_calls(int a)
{
	w_void(a);
	w_void(a + 1);
	sum += w_leaf(a);
	KEEP;
}
ALONE int w_tail(int a)
{
	KEEP;
	return w_leaf(a + 1);
}
ALONE int w_many_returns(int a)
{
	KEEP;
	if (a % 3 == 0)
		return w_leaf(a);
	if (a % 3 == 1)
		return a + 7;
	w_void(a);
	return w_tail(a);
}
ALONE int w_recurse(int a)
{
	char room[200];

	__asm__ volatile("" ::"r"(room) : "memory");
	return a == 0 ? 0 : w_recurse(a - 1) + a;
}
ALONE double w_float(double a, float b, int c)
{
	KEEP;
	return a * b + c;
}
ALONE struct w_large w_struct(long a, long b, double c)
{
	struct w_large l = { a, b, c, { 1, 2, 3 } };

	KEEP;
	return l;
}
ALONE int w_six(int a, int b, int c, int d, int e, int f, int g, int h)
{
	KEEP;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
ALONE long w_work(int rounds)
{
	long r = 0;

	sum = 0;
	for (int i = 0; i < rounds; i++) {
		struct w_large l = w_struct(i, 2, 0.5);

		w_void_calls(i);
		r += w_many_returns(i) + w_recurse(5) + (long)w_float(i, 2.5f, 3) + l.a + (long)(l.c * 4) + l.d[2];
		r += w_six(i, 2, 3, 4, 5, 6, 7, 8);
	}
	return r + sum;
}
