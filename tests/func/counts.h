/* SPDX-License-Identifier: MIT */
/*
 * counts.h - how often functions are really called, counted by the program
 * itself, to compare with what the trace says.
 *
 *	COUNT(work);
 *	TRACED int work(int n) { ENTER(work); …; LEAVE(work); return r; }
 *
 * ENTER is the first thing of a body, LEAVE stands before each return or tail
 * call: what was entered and never came to LEAVE was left by longjmp, an exception or
 * the end of its thread. The macros call nothing but counts_link(), the first time; counts.c is not traced.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct count {
	const char *name; /* as nm -C has it, without parameters */
	uint64_t entered, left_by_return;
	struct count *next;
};

void counts_link(struct count *count);
/* Adds this process's counts, and where its objects lie, to the folder $COUNTS; once more at exit. */
void counts_write(void);
/* In a forked child: counts anew. */
void counts_reset(void);
/* A signal every so many microseconds, for the whole process. Its handler is traced and counted. */
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
