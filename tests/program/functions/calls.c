/* SPDX-License-Identifier: MIT */
/* calls.c - unusual ways to call and to return: tail calls, callbacks, trampolines, resolvers, constructors. */
#define _GNU_SOURCE
#include "hazards.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

COUNT(tail_even);
COUNT(tail_odd);
COUNT(tail_indirect);
COUNT(tail_end);
COUNT(sort_compare);
COUNT(sort_search);
COUNT(which_one);
COUNT(leaf_red_zone);
COUNT(leaf_nothing);
COUNT(trace_down);
COUNT(trace_here);
COUNT(construct);
COUNT(destruct);

int constructed;

__attribute__((constructor)) TRACED static void construct(void)
{
	ENTER(construct);
	constructed++;
	LEAVE(construct);
}

__attribute__((destructor)) TRACED static void destruct(void)
{
	ENTER(destruct);
	constructed--;
	LEAVE(destruct);
}

/* --------------------------------------------------------------- tail calls */

#if defined(__clang__)
#define MUSTTAIL __attribute__((musttail))
#else
#define MUSTTAIL
#endif

static int tail_odd(int n, int sum);

TRACED static int tail_end(int sum, int n)
{
	ENTER(tail_end);
	LEAVE(tail_end);
	return sum + n;
}

/* A computed jump, for which gcc prefers r11 or rax. */
static int (*volatile tail_target)(int, int) = tail_end;

TRACED static int tail_indirect(int sum, int n)
{
	ENTER(tail_indirect);
	LEAVE(tail_indirect);
	MUSTTAIL return tail_target(sum, n);
}

TRACED static int tail_even(int n, int sum)
{
	ENTER(tail_even);
	LEAVE(tail_even);
	if (n == 0)
		MUSTTAIL return tail_indirect(sum, n);
	MUSTTAIL return tail_odd(n - 1, sum + 1);
}

TRACED static int tail_odd(int n, int sum)
{
	ENTER(tail_odd);
	LEAVE(tail_odd);
	MUSTTAIL return tail_even(n - 1, sum + 2);
}

int scene_tail_calls(void)
{
	long sum = 0;

	for (int i = 0; i < 200; i += 2)
		sum += tail_even(i, i);
#if defined(__OPTIMIZE__) && !defined(NO_TAIL_CALLS)
	/* If one of these were not a tail call, they would need more stack than there is. */
	sum += tail_even(200000, 0);
#endif
	printf("tail calls: %s\n", sum > 0 ? "right" : "wrong");
	return 0;
}

/* ---------------------------------------------------------------- callbacks */

TRACED static int sort_compare(const void *a, const void *b)
{
	ENTER(sort_compare);
	int r = (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);

	LEAVE(sort_compare);
	return r;
}

TRACED static int sort_search(const int *numbers, int n, int key)
{
	ENTER(sort_search);
	const int *found = bsearch(&key, numbers, (size_t)n, sizeof(*numbers), sort_compare);
	int r = found ? (int)(found - numbers) : -1;

	LEAVE(sort_search);
	return r;
}

#ifndef __clang__
COUNT(nested_outer);

/*
 * Nested functions find their frame by r10, and by a trampoline on the stack if they are called by address. gcc's
 * slots have another layout there, and stay unused: these functions do not count themselves.
 */
TRACED static long nested_outer(int *numbers, int n)
{
	ENTER(nested_outer);
	long sum = 0;
	int compared = 0;

	__attribute__((noipa)) void add(int by)
	{
		sum += by;
	}
	__attribute__((noipa)) int compare_down(const void *a, const void *b)
	{
		compared++;
		return *(const int *)b - *(const int *)a;
	}
	qsort(numbers, (size_t)n, sizeof(*numbers), compare_down);
	for (int i = 0; i < n; i++)
		add(numbers[i] * (i + 1));
	long r = sum * (compared > n);
	LEAVE(nested_outer);
	return r;
}
#else
static long nested_outer(int *numbers, int n)
{
	(void)numbers;
	(void)n;
	return 0;
}
#endif

int scene_callbacks(void)
{
	enum { N = 500 };
	int numbers[N];
	long sum = 0;

	for (int i = 0; i < N; i++)
		numbers[i] = (int)((unsigned)i * 7919u % 1000u);
	qsort(numbers, N, sizeof(numbers[0]), sort_compare);
	for (int i = 1; i < N; i++)
		sum += numbers[i] >= numbers[i - 1];
	for (int i = 0; i < 100; i++)
		sum += sort_search(numbers, N, i) >= 0;
	printf("callbacks: %ld, nested %ld, constructed %d\n", sum, nested_outer(numbers, N), constructed);
	return 0;
}

/* -------------------------------------------------------------------- ifunc */

TRACED static int which_one(int n)
{
	ENTER(which_one);
	LEAVE(which_one);
	return n + 1;
}

/*
 * Runs before most relocations, and in a static program before anything else: too early to count itself, and
 * too early for a call through the PLT, such as those of -finstrument-functions.
 */
static int resolved;
#ifdef EARLY_CALLS_FAIL
UNTRACED
#else
TRACED
#endif
__attribute__((used)) static int (*resolve_which(void))(int)
{
	resolved++;
	return which_one;
}
int chosen(int n) __attribute__((ifunc("resolve_which")));

int scene_ifunc(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += chosen(i);
	printf("ifunc: %d, resolved %d\n", sum, resolved > 0);
	return 0;
}

/* ------------------------------------------------------------------- leaves */

/* Keeps what it computes below the stack pointer, where a call from a slot must not write meanwhile. */
TRACED static unsigned leaf_red_zone(unsigned seed)
{
	volatile unsigned a[24];

	for (unsigned i = 0; i < 24; i++)
		a[i] = seed * 2654435761u + i;
	for (unsigned i = 1; i < 24; i++)
		a[i] ^= a[i - 1] >> 3;
	return a[23] + a[11] + a[0];
}

TRACED static void leaf_nothing(void)
{
	__asm__ volatile("");
}

int scene_leaves(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 20000; i++) {
		ENTER(leaf_red_zone);
		sum += leaf_red_zone(i);
		LEAVE(leaf_red_zone);
		ENTER(leaf_nothing);
		leaf_nothing();
		LEAVE(leaf_nothing);
	}
	printf("leaves: %u\n", sum);
	return 0;
}

/* ---------------------------------------------------------------- backtrace */

static uintptr_t image_base;

static int find_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	image_base = info->dlpi_addr;
	return 1;
}

/* Prints frames of this program with their place in it; of other frames only that they exist. */
static void print_frame(const char *how, int i, uintptr_t pc)
{
	extern char __executable_start[], etext[];

	if (pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext)
		printf("%s %d: %#lx\n", how, i, (unsigned long)(pc - image_base));
	else
		printf("%s %d: elsewhere\n", how, i);
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
	int *n = arg;

	print_frame("unwind", (*n)++, _Unwind_GetIP(context));
	return *n < 100 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

TRACED static int trace_here(int n)
{
	ENTER(trace_here);
	void *frames[64];
	int got = backtrace(frames, 64), unwound = 0;

	for (int i = 0; i < got; i++)
		print_frame("backtrace", i, (uintptr_t)frames[i]);
	_Unwind_Backtrace(on_frame, &unwound);
	LEAVE(trace_here);
	return n + got + unwound;
}

TRACED static int trace_down(int n)
{
	ENTER(trace_down);
	int r = n > 0 ? trace_down(n - 1) + 1 : trace_here(n);

	LEAVE(trace_down);
	return r;
}

static int trace_compare(const void *a, const void *b)
{
	static int once;

	if (!once++)
		trace_down(2);
	return *(const char *)a - *(const char *)b;
}

int scene_backtrace(void)
{
	char letters[] = "hodoscope";

	dl_iterate_phdr(find_base, NULL);
	int n = trace_down(12);
	qsort(letters, strlen(letters), 1, trace_compare);
	printf("backtrace: %d, %s\n", n, letters);
	return 0;
}
