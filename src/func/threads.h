/* SPDX-License-Identifier: MIT */
/* threads.h - what dispatch and the built-in tracers keep for each thread. */
#pragma once

#include <core/shadow.h>
#include <user/user.h>

/*
 * What dispatch and the built-in tracers keep for each thread; never unmapped, but reused by another thread
 * when its own has ended.
 */
struct hodo_func_thread {
	struct hodo_shadow shadow; /* first */
	uint32_t inside;           /* odd: the thread is in dispatch */
	uintptr_t guard;           /* stack pointer of the running dispatch, 0: none */
	uint32_t tid;
	bool main;
	uint64_t exit_ticks;       /* of the current exit, if its frame is to record it */
	struct hodo_shadow calls;  /* durations.c: of functions whose exits are events; no frames: not used yet */
	uint64_t began;            /* durations.c: when the call that has ended began, in ticks */
	const char *role;          /* thread.c */
	void *profile;             /* profile.c: its own mapping, kept when the thread has ended */
	uint64_t stack_min;        /* stack.c: lowest address seen, 0: none */
	uint64_t stack_pending;    /* stack.c: the frame there that is not recorded yet, 0: none */
	uint32_t stack_step;       /* stack.c: of the last event on the way down */
	struct hodo_open_thread *open; /* open.c: its place, NULL: none was free; for this tid and this recording */
	uint32_t open_tid, open_recording;
	uint32_t latency_free;     /* latency.c: nodes for this thread's use, kept when it has ended */
	uint64_t chain[64];        /* for an event */
	uint32_t cache_epoch;      /* of the lookup that cache was filled from */
	struct hodo_func_cached {
		uint64_t function, sets;
	} cache[64];
};
static inline struct hodo_func_thread *hodo_func_thread(struct hodo_shadow *shadow)
{
	return (struct hodo_func_thread *)shadow;
}
#ifndef HODO_FUNC_THREADS_MAX
#define HODO_FUNC_THREADS_MAX 65536u
#endif
#define HODO_FRAMES_MAX (1u << 22) /* of one thread; 64 bytes each, touched only as deep as calls go */

/* threads.c: gets this thread's, set up; NULL: too many threads. closed: of its shadow. */
HODO_HIDDEN struct hodo_func_thread *hodo_func_thread_get(__typeof__(((struct hodo_shadow *)0)->closed) closed);
/* Makes a thread's second shadow. False: there is no memory. */
HODO_HIDDEN bool hodo_func_thread_calls(struct hodo_func_thread *t);
/* Whether another thread sleeps where it cannot be in the dispatch that it began, since a longjmp left that. */
HODO_HIDDEN bool hodo_func_thread_left(const struct hodo_func_thread *t);
/* Whether the address is on the thread's own stack. */
static inline bool hodo_func_own_stack(const struct hodo_func_thread *t, uintptr_t at)
{
	return at - t->shadow.stack_low < t->shadow.stack_high - t->shadow.stack_low;
}
HODO_HIDDEN void hodo_func_threads_init(void);
/* ends: called at the end of each thread in which calls were seen. */
HODO_HIDDEN void hodo_func_threads_watch(void (*ends)(void *thread));
HODO_HIDDEN struct hodo_func_thread *hodo_func_thread_at(uint32_t i); /* NULL after the last; for grace periods */
HODO_HIDDEN void hodo_func_threads_after_fork(void);
