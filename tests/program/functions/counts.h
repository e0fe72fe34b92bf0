/* SPDX-License-Identifier: MIT */
/*
 * counts.h - how often functions are really called, as the program itself counts
 * it, to compare with the trace.
 *
 *	COUNT(work);
 *	TRACED int work(int n) { ENTER(work); …; LEAVE(work); return r; }
 *
 * ENTER comes first in a body, LEAVE comes before each return or tail call: a
 * function that was entered and did not come to LEAVE was left by longjmp, an exception or
 * the end of its thread. The macros call only counts_link(), the first time; counts.c is not traced.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct count {
	const char *name; /* as nm -C prints it, without parameters */
	uint64_t entered, left_by_return;
	struct count *next;
};

void counts_link(struct count *count);
/* Adds this process's counts, and the addresses of its objects, to the folder $COUNTS; runs again at exit. */
void counts_write(void);
/* For a forked child: starts the counts from zero. */
void counts_reset(void);
/* Sends the whole process a signal every us microseconds, or less often where the handler takes longer. It is traced
 * and counted. */
void counts_ticks(long us, void (*handler)(int));

#define COUNT_AS(id, text) static struct count count_##id = {text, 0, 0, 0}
#define COUNT(f) COUNT_AS(f, #f)
#define ENTER(f)                                                                                                       \
	do {                                                                                                           \
		if (__atomic_fetch_add(&count_##f.entered, 1, __ATOMIC_RELAXED) == 0)                                  \
			counts_link(&count_##f);                                                                       \
	} while (0)
#define LEAVE(f) ((void)__atomic_fetch_add(&count_##f.left_by_return, 1, __ATOMIC_RELAXED))

#ifdef __clang__
#define TRACED __attribute__((noinline))
#else
#define TRACED __attribute__((noipa))
#endif
#define UNTRACED __attribute__((no_instrument_function, noinline))

#ifdef __cplusplus
}
#endif
#endif
