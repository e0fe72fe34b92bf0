/* SPDX-License-Identifier: MIT */
/*
 * open.c - the calls that threads are inside of, in the recording's memory: if tracers record a call at its
 * end, the recorder finds those without an end here, however the process ended.
 *
 * A thread writes to its own place. If it ends inside of calls, it keeps the place, and the thread that takes
 * over its dispatch state gets another.
 *
 *                  | enter, leave                 | start                | recorder
 *   enter, leave   | beside, each its own place   | before, or waited    | beside: it believes nothing in a place but
 *                  |                              | for (dispatch)       | that it holds numbers
 *   start          |                              | excluded (the lock)  | beside
 */
#include <func/threads.h>
#include "tracers.h"
#include <user/user.h>

static uint32_t recording; /* number of the recording that has the places */

static struct hodo_open_thread *new_place(struct hodo_func_thread *t, struct hodo_open_thread *places, uint32_t now)
{
	struct hodo_open_thread *p = t->open_recording == now ? t->open : 0;

	if (!p || p->n) {
		uint32_t i = hodo_load(&places->n);

		if (i < HODO_OPEN_THREADS)
			i = hodo_add(&places->n, 1) + 1;
		p = i < HODO_OPEN_THREADS ? &places[i] : 0;
	}
	if (p)
		p->tid = t->tid;
	t->open = p;
	t->open_tid = t->tid;
	t->open_recording = now;
	return p;
}

/*
 * NULL: there is none. A handler may fork between any two steps: its places must not be mistaken for the next
 * recording's.
 */
static struct hodo_open_thread *place_of(struct hodo_func_thread *t)
{
	uint32_t now = hodo_load_acquire(&recording);
	struct hodo_open_thread *places = hodo_load(&hodo_func_open);

	if (!places)
		return 0;
	if (__builtin_expect(t->open_tid == t->tid && t->open_recording == now, 1))
		return t->open;
	return new_place(t, places, now);
}

void hodo_open_enter(struct hodo_func_thread *t, const struct hodo_frame *frame, bool wanted)
{
	struct hodo_open_thread *p = place_of(t);
	uint32_t i = (uint32_t)(frame - t->shadow.frames);

	if (!p)
		return;
	if (i < HODO_OPEN_CALLS) {
		struct hodo_open_call *c = &p->call[i];

		c->addr = wanted ? frame->function : 0;
		c->entry = frame->entry;
		c->frame = HODO_FRAME32(frame->at);
		c->depth = frame->depth;
	}
	hodo_store_release(&p->n, i + 1);
}

void hodo_open_leave(struct hodo_func_thread *t)
{
	struct hodo_open_thread *p = place_of(t);

	if (p && p->n > t->shadow.n)
		hodo_store_release(&p->n, t->shadow.n);
}

void hodo_open_start(bool wanted)
{
	const struct hodo_recording *r = &hodo_recording;

	hodo_store_release(&hodo_func_open, wanted && r->layout.open ?
			   (struct hodo_open_thread *)(r->shm + r->layout.open) : (struct hodo_open_thread *)0);
	hodo_store_release(&recording, recording + 1); /* a thread that sees it sees the places, too */
}
