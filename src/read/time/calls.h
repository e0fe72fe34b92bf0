/* SPDX-License-Identifier: MIT */
/* calls.h - calls from entries and exits (calls.c), and late ones (calls_late.c). */
#pragma once

#include "late_calls.h"

#include <base/map.h>
#include <core/shadow.h>

#define HODO_CALL_NO_EXIT (1u << 31) /* in hodo_frame.thread, beside the index */

/* Late calls that have ended, of one depth and with no loss between them, inside a call yet to come. */
struct calls_ended {
	uint32_t depth;
	int64_t until; /* the end of the last of them */
	uint64_t sum;
	struct hodo_map same; /* if sums are wanted: of these calls and what is inside them */
	uint32_t first, last; /* of those that are kept */
	int64_t first_ns;
};

struct calls_thread {
	struct hodo_shadow shadow; /* first */
	struct calls_process *process;
	const char *comm;
	uint32_t tid;
	uint64_t last_ns; /* of its last event */
	struct calls_ended *ended; /* in the order of their ends */
	uint32_t nended, ended_room;
	struct hodo_late_call *late; /* kept */
	uint32_t nlate, late_room;
	uint64_t callees_at, callees_ns; /* from func:callee: what the next late call with that frame called */
};

struct calls_process {
	struct hodo_parked parked; /* first */
	struct hodo_read_calls *calls;
	const struct hodo_read_process *pub;
	struct hodo_map threads; /* struct calls_thread by key_of(); hodo_frame.thread is their number */
	struct hodo_map places;  /* of struct place, once there are several threads */
};

/* Which thread last entered a frame at an address: a coroutine may continue in another thread than the one
 * whose chain has its frames. */
struct place {
	uint64_t at;
	uint32_t thread;
};

struct hodo_read_calls {
	struct hodo_read_calls_ops ops;
	void *data;
	struct hodo_map processes; /* struct calls_process by its pub, in the order of their first events */
	struct calls_process *last;
	struct hodo_read_calls_totals totals;
	int64_t now_ns;
	bool ending, no_memory;
	enum hodo_late (*choose)(void *data, const struct hodo_late_call *call);
	bool sums;
	uint32_t nlate; /* kept, of all threads */
};

static inline struct calls_thread *hodo_calls_thread(const struct calls_process *p, uint32_t i)
{
	return hodo_map_kept_at(&p->threads, i);
}

/* NULL: no call of it was seen. */
static inline struct calls_thread *hodo_calls_find(const struct hodo_read_calls *c,
						   const struct hodo_read_process *process, uint32_t tid)
{
	const struct calls_process *p = hodo_map_kept(&c->processes,
						      hodo_map_find_u64(&c->processes, (uintptr_t)process));

	return p ? hodo_map_kept(&p->threads, hodo_map_find_u64(&p->threads, tid)) : NULL;
}

/* calls_late.c: func:call, func:open; func:callee */
void hodo_calls_late_event(struct calls_thread *t, const struct hodo_read_event *e, bool open);
void hodo_calls_callee(struct calls_thread *t, const struct hodo_read_event *e, uint64_t at);
void hodo_calls_pass(struct calls_thread *t); /* the kept ones, to ops */
void hodo_calls_late_free(struct calls_thread *t);
