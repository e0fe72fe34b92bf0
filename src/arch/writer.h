/* SPDX-License-Identifier: MIT */
/* writer.h - the ring's writers in assembly: their state of a thread, and how to call them. */
#pragma once

#include <stdbool.h>
#include <core/filter.h>
#include <core/ring.h>

#define HODO_HIDDEN __attribute__((visibility("hidden")))
#define HODO_PUBLIC __attribute__((visibility("default")))
/* Symbols of the first library that the second, libhodo-func.so, uses; hidden if both are one (libhodo.a). */
#ifdef HODO_SPLIT
#define HODO_SHARED HODO_PUBLIC
#else
#define HODO_SHARED HODO_HIDDEN
#endif

/* ------------------------------------------------------------------ threads */

enum hodo_thread_mode {
	HODO_THREAD_NEW = 0, /* not seen yet */
	HODO_THREAD_RSEQ = 1,
	HODO_THREAD_FALLBACK = 2, /* rseq not available */
	HODO_THREAD_SHARED = 3 /* no rseq, for good: another process uses its thread-local storage */
};

/* table points to hodo_no_views until the thread's first event, and whenever it must not take the fast path. */
struct hodo_tls {
	struct hodo_view *table; /* 0: the assembly knows the offsets */
	uint32_t tid;            /* 8 */
	uint32_t mode;           /* enum hodo_thread_mode */
	const char *role;        /* hodo_thread_role()'s; NULL: none */
};
extern HODO_SHARED __thread struct hodo_tls hodo_tls __attribute__((tls_model("initial-exec")));
/* A table has a view for each possible CPU number of Linux; before these two for -1 and -2, the CPU of a
 * thread without restartable sequences (rseq(2)), which have no ring; and after them the fallback ring's,
 * which no CPU number reaches. */
#define HODO_VIEWS 8192u
#define HODO_VIEWS_BEFORE 2u
#define HODO_VIEWS_ALL (HODO_VIEWS_BEFORE + HODO_VIEWS + 1)
extern HODO_HIDDEN struct hodo_view hodo_zero_views[HODO_VIEWS_ALL]; /* always all zero */
#define hodo_no_views (hodo_zero_views + HODO_VIEWS_BEFORE)
extern HODO_SHARED long hodo_rseq_offset;

/* ------------------------------------------------------------------ writers */

enum hodo_try {
	HODO_TRY_DONE = 0,
	HODO_TRY_SLOW = 1,    /* no ring here, or no room in the packet */
	HODO_TRY_CHANGED = 2, /* the on word is not as expected */
	HODO_TRY_ABORTED = 3
};
/* Where emit continues if it does not write the event. */
extern HODO_HIDDEN void (*hodo_x86_slow)(struct hodo_state *state, const void *data, size_t len);
/* vfork() calls it before another process shares this one's memory. */
extern HODO_HIDDEN void (*hodo_x86_shares)(void);
HODO_HIDDEN void hodo_x86_emit(struct hodo_state *state, const void *data, size_t len);
HODO_SHARED int hodo_x86_try(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total,
			     uint32_t on);
/* Writes a record of HODO_FORM_CALL or HODO_FORM_RETURN (without its time) after an anchor with that window;
 * like hodo_x86_try() with HODO_ON_RECORD. */
HODO_SHARED int hodo_x86_call(struct hodo_state *state, uint64_t record, uint64_t window);
/* 1: the event's filter refuses it; 0: it does not, or not known here. */
HODO_HIDDEN int hodo_x86_refuse(struct hodo_state *state, const struct hodo_piece *pieces, size_t count);
/* 1: this CPU's ring is full for an event of total bytes, which has been counted as lost; 0: it is not, or
 * not known. */
HODO_SHARED int hodo_x86_full(size_t total);
HODO_HIDDEN int hodo_x86_switch(const struct hodo_switch *plan);
/* Increments counts[this CPU] if *open is not 0: 1; 0: *open is 0; -1: aborted, try another way. The stride
 * is 64 bytes. */
HODO_HIDDEN int hodo_x86_count(uint64_t *counts, const uint32_t *open);

/* One attempt to write an event that has texts or arrays (user/event/emit.h); 0: left to hodo_x86_gather_slow(). */
HODO_HIDDEN int hodo_x86_gather(struct hodo_state *state, const void *values);

/* Where sites jump (hodo/trace_user.h): not callable from C. They call these; the third argument is what
 * site.S saves of the site: its rbp, and where it continues. */
extern HODO_HIDDEN void (*hodo_x86_gather_slow)(struct hodo_state *state, const uint8_t *values,
						const uintptr_t *frame);
extern HODO_HIDDEN void (*hodo_x86_probes)(struct hodo_state *state, const void *values, const uintptr_t *frame);
HODO_SHARED void hodo_x86_site(void);
HODO_HIDDEN void hodo_x86_span_end(void);

/* -------------------------------------------------------- vector registers */

/* Call C functions that use vector registers while the program's are live; they preserve all (keep.S), or
 * SSE's (site.S). */
HODO_SHARED void hodo_x86_keep(void (*function)(long, long, long), long a, long b, long c);
HODO_HIDDEN long hodo_x86_keep_sse(long (*function)(long, long, long, long), long a, long b, long c, long d);
extern HODO_HIDDEN uint64_t hodo_x86_xsave_bytes;
extern HODO_HIDDEN uint32_t hodo_x86_xsave_mask;
extern HODO_HIDDEN uint32_t hodo_x86_moves; /* keep.S: 0 xsave or fxsave, 1 ymm, 2 zmm and k */
HODO_HIDDEN void hodo_x86_keep_init(void);
