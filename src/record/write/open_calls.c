/* SPDX-License-Identifier: MIT */
/*
 * open_calls.c - the calls that a process's threads were inside of when it ended or was let go, from its
 * shared memory: a func:open event for each call that was long enough, inner ones first as with func:call.
 *
 * Each place is copied before it is read; its contents are only used as numbers.
 */
#define _GNU_SOURCE
#include "own_stream.h"

#include <base/quantity.h>
#include <base/scope.h>

#include <record/functions.h>
#include <record/ring/shm.h>

/* func:open's payload. */
struct event {
	uint64_t addr;
	uint32_t frame, depth;
	uint64_t ticks;
} __attribute__((packed));

/* Writes the calls that one thread is inside of. */
static void write_thread(struct hodo_own_stream *own, uint16_t id, const struct hodo_open_thread *t, uint32_t n)
{
	const struct hodo_recorder *s = own->process->recorder;
	const struct hodo_functions *f = s->config.functions;
	uint64_t limit = f->limit_ns ? hodo_recorder_ticks_in(s, f->limit_ns) : 0;

	while (n-- > 0) {
		const struct hodo_open_call *c = &t->call[n];
		struct event e = { .addr = c->addr, .frame = c->frame, .depth = c->depth };
		uint64_t now;

		hodo_own_stream_room(own, sizeof(e));
		now = own->head.timestamp_begin;
		e.ticks = now > c->entry ? now - c->entry : 0;
		if (c->addr && e.ticks >= limit && !(f->depth_max && c->depth >= f->depth_max))
			hodo_own_stream_add(own, id, t->tid, &e, sizeof(e), NULL, 0);
	}
}

void hodo_process_write_open(struct hodo_own_stream *own)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32, HODO_TYPE_U32, HODO_TYPE_U64 };
	const struct hodo_process *p = own->process;
	const struct hodo_open_thread *places = (const struct hodo_open_thread *)(p->shm + p->layout.open);
	uint16_t id = hodo_own_stream_id(own, "func:open", types, sizeof(types));
	uint32_t used = hodo_shm_load32(&places[0].n);
	HODO_AUTO_FREE struct hodo_open_thread *copy = id ? malloc(sizeof(*copy)) : NULL;
	uint64_t deep = 0;
	char number[32];

	if (!copy)
		return;
	for (uint32_t i = 1; i <= used && i < HODO_OPEN_THREADS; i++) {
		uint32_t n = hodo_shm_load32(&places[i].n);

		if (n > HODO_OPEN_CALLS) {
			deep += n - HODO_OPEN_CALLS;
			n = HODO_OPEN_CALLS;
		}
		hodo_shm_copy(copy, &places[i], offsetof(struct hodo_open_thread, call) + n * sizeof(copy->call[0]));
		write_thread(own, id, copy, n);
	}
	if (deep)
		hodo_process_report(p, "%s call%s not ended and not in the recording: nested in %u others",
				    hodo_grouped(deep, number), deep == 1 ? " was" : "s were", HODO_OPEN_CALLS);
	if (used >= HODO_OPEN_THREADS)
		hodo_process_report(p, "calls that had not ended, in threads after the first %u, are not in "
				    "the recording",
				    (unsigned)HODO_OPEN_THREADS - 1);
}
