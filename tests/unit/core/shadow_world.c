/* SPDX-License-Identifier: MIT */
/* shadow_world.c - see world.h. */
#include "shadow_world.h"

#include <stdlib.h>
#include <string.h>

#define OWN_TOP(t) (0x7f0000000000ull + ((uint64_t)(t) << 32))
#define OWN_BYTES (8u << 20)
#define HEAP 0x550000000000ull

static uint64_t next_random(struct world *w)
{
	if (w->o.script) {
		uint64_t v = 0;

		for (int i = 0; i < 2; i++)
			v = v << 8 | (w->script_at < w->o.script_len ? w->o.script[w->script_at++] : 0);
		return v;
	}
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return w->random * 0x2545f4914f6cdd1dull >> 16;
}

static uint32_t below(struct world *w, uint32_t n)
{
	return (uint32_t)(next_random(w) % n);
}

/* ---------------------------------------------------------------- what is reported */

static struct world *the_world;

static void closed(struct hodo_shadow *s, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	struct world_frame *f = &the_world->frames[frame->user];

	(void)s;
	f->closed++;
	f->closed_at = now;
	f->end = end;
	if (frame->at != f->at || frame->function != f->function || frame->entry != f->entry ||
	    (f->state == LIVE && !the_world->ended) || (end == HODO_FRAME_RETURNED && f->state != RETURNED))
		abort();
	if (!f->messy && f->state == RETURNED && frame->children != f->children)
		abort();
}

static void parked(struct hodo_shadow *s, const struct hodo_frame *frame)
{
	(void)s;
	the_world->parks++;
	if (!frame->parked)
		abort();
}

static bool grow_parked(struct hodo_parked *p)
{
	struct hodo_parked larger = *p;

	larger.mask = p->mask * 2 + 1;
	larger.count = 0;
	larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (uint32_t i = 0; i <= p->mask; i++)
		if (p->slots[i].at)
			hodo_parked_put(&larger, &p->slots[i]);
	free(p->slots);
	*p = larger;
	return true;
}

static bool grow_frames(struct hodo_shadow *s)
{
	struct hodo_frame *more = realloc(s->frames, 2 * (size_t)s->max * sizeof(*more));

	if (!more)
		return false;
	s->frames = more;
	s->max *= 2;
	return true;
}

/* -------------------------------------------------------------------- the world */

static struct world_stack *running(struct world_thread *t)
{
	return t->running[t->n - 1];
}

/* The frame in which the thread really is, NULL if none. */
static struct world_frame *top(struct world *w, struct world_thread *t)
{
	for (uint32_t i = t->n; i-- > 0;)
		if (t->running[i]->n)
			return &w->frames[t->running[i]->ids[t->running[i]->n - 1]];
	return NULL;
}

static void mess(struct world *w, struct world_thread *t)
{
	t->jumped = true;
	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t k = 0; k < t->running[i]->n; k++)
			w->frames[t->running[i]->ids[k]].messy = true;
}

static void call(struct world *w, struct world_thread *t)
{
	struct world_stack *s = running(t);
	struct world_frame *up = s->n ? &w->frames[s->ids[s->n - 1]] : NULL, *f;
	uint64_t sp = up ? up->sp : s->top;
	uint32_t room = (uint32_t)(s == &t->own ? OWN_BYTES : STACK_BYTES), size = 16 + 8 * below(w, 40);
	struct hodo_frame *frame;

	if (s == &t->own && below(w, 50) == 0)
		size += 100000;
	if (w->o.sp && up && below(w, 4) == 0)
		size = 0; /* inlined: it shares the caller's frame */
	if (s->n == STACK_FRAMES || s->top - sp + size + 1024 > room)
		return;
	if (w->nframes == w->room) {
		w->room = w->room * 2 + 64;
		w->frames = realloc(w->frames, w->room * sizeof(*w->frames));
		if (!w->frames)
			abort();
	}
	f = &w->frames[w->nframes];
	*f = (struct world_frame){ .at = sp - size, .sp = sp - size, .entry = ++w->now };
	f->function = w->o.sp ? 0x1000 + w->nframes : 0x1000 + below(w, 5);
	if (w->o.sp && below(w, 3) == 0)
		f->sp -= 64;
	frame = hodo_shadow_enter(&t->shadow, f->at, f->function, w->now, w->o.sp);
	f = &w->frames[w->nframes];
	f->refused = !frame;
	f->messy = w->o.coroutines || (t->jumped && !w->o.stacks_known); /* what is over may still be shown */
	if (frame) {
		frame->user = w->nframes;
		f->depth = frame->depth;
		w->entered++;
	}
	s->ids[s->n++] = w->nframes++;
}

static void leave_frames(struct world *w, struct world_stack *s, uint32_t to)
{
	while (s->n > to) {
		struct world_frame *f = &w->frames[s->ids[--s->n]];

		f->state = LEFT;
		f->exit = w->now;
	}
}

static void ret(struct world *w, struct world_thread *t)
{
	struct world_stack *s = running(t);
	struct world_frame *f, *up;
	bool reported;

	if (!s->n)
		return;
	f = &w->frames[s->ids[--s->n]];
	f->state = RETURNED;
	f->exit = ++w->now;
	up = top(w, t);
	if (up)
		up->children += f->exit - f->entry;
	reported = hodo_shadow_exit(&t->shadow, w->o.sp ? f->sp : f->at, f->function, w->now, w->o.sp, 0);
	if (!reported && !f->refused && !w->o.coroutines)
		abort();
	if (reported && f->closed != 1)
		abort();
}

static void throw_exception(struct world *w, struct world_thread *t)
{
	struct world_stack *s = running(t);

	mess(w, t);
	if (s->n)
		leave_frames(w, s, below(w, s->n + 1));
	/* The shadow may see where the exception is caught. */
	if (!w->o.coroutines && below(w, 2))
		hodo_shadow_landed(&t->shadow, (s->n ? w->frames[s->ids[s->n - 1]].sp : s->top) - 8, ++w->now, false);
}

/* A signal handler, on a separate stack or on the one that runs. */
static void signal_arrives(struct world *w, struct world_thread *t)
{
	if (t->alt.active)
		return;
	t->alt.active = true;
	t->running[t->n++] = &t->alt;
	call(w, t);
}

static void signal_ends(struct world *w, struct world_thread *t, bool jump)
{
	if (running(t) != &t->alt)
		return;
	if (jump)
		mess(w, t);
	while (t->alt.n && !jump)
		ret(w, t);
	leave_frames(w, &t->alt, 0);
	t->alt.active = false;
	t->n--;
	if (jump)
		throw_exception(w, t);
}

static void resume(struct world *w, struct world_thread *t)
{
	struct world_stack *s = &w->coroutines[below(w, STACKS)];

	if (s->active || running(t) == &t->alt)
		return;
	if (!w->o.silent_moves && (running(t) != &t->own || !t->own.n))
		return;
	s->active = true;
	t->running[t->n++] = s;
	mess(w, t);
	if (!s->n || below(w, 2))
		call(w, t);
}

static void yield(struct world *w, struct world_thread *t)
{
	struct world_stack *s = running(t);

	if (t->n < 2 || s == &t->alt)
		return;
	mess(w, t);
	s->active = false;
	t->n--;
	/* The thread's next actions show that it is on another stack. */
	while (!w->o.silent_moves && t->n && running(t)->n)
		ret(w, t);
	if (below(w, 8) == 0)
		leave_frames(w, s, 0); /* discarded, with its open calls */
}

static void step(struct world *w)
{
	struct world_thread *t = &w->threads[below(w, THREADS)];
	uint32_t dice = below(w, 100);

	w->now += below(w, 5);
	if (dice < 48)
		call(w, t);
	else if (dice < 86 || (dice >= 92 && w->o.calm))
		ret(w, t);
	else if (dice < 89)
		signal_arrives(w, t);
	else if (dice < 92)
		signal_ends(w, t, false);
	else if (dice < 94)
		throw_exception(w, t);
	else if (dice < 95)
		signal_ends(w, t, true);
	else if (w->o.coroutines && dice < 98)
		resume(w, t);
	else if (w->o.coroutines)
		yield(w, t);
}

void world_run(struct world *w, const struct world_options *o)
{
	memset(w, 0, sizeof(*w));
	w->o = *o;
	w->random = o->seed * 2 + 1;
	the_world = w;
	w->parked.mask = 15;
	w->parked.slots = calloc(16, sizeof(*w->parked.slots));
	w->parked.grow = grow_parked;
	for (uint32_t i = 0; i < THREADS; i++) {
		struct world_thread *t = &w->threads[i];

		t->own.top = OWN_TOP(i);
		t->alt.top = HEAP + 0x100000 + i * STACK_BYTES;
		t->running[t->n++] = &t->own;
		t->shadow = (struct hodo_shadow){ .max = 4, .thread = i, .parked = &w->parked, .grow = grow_frames,
						  .closed = closed, .park = parked };
		t->shadow.frames = calloc(4, sizeof(struct hodo_frame));
		if (o->stacks_known) {
			t->shadow.stack_low = t->own.top - OWN_BYTES;
			t->shadow.stack_high = t->own.top + 64;
		}
	}
	for (uint32_t i = 0; i < STACKS; i++)
		w->coroutines[i].top = HEAP + 0x200000 + i * STACK_BYTES + (i >= STACKS / 2 ? i * 0x40000ull : 0);
	for (uint32_t i = 0; i < o->steps && (!o->script || w->script_at < o->script_len); i++)
		step(w);
}

void world_end(struct world *w)
{
	struct hodo_frame frame;

	w->now++;
	w->ended = true;
	for (uint32_t i = 0; i < THREADS; i++)
		hodo_shadow_clear(&w->threads[i].shadow, w->now);
	for (uint32_t i = 0; i <= w->parked.mask; i++) {
		frame = w->parked.slots[i];
		if (frame.at && frame.sp <= 1)
			closed(&w->threads[0].shadow, &frame, HODO_FRAME_LEFT, frame.parked);
	}
}

void world_free(struct world *w)
{
	for (uint32_t i = 0; i < THREADS; i++)
		free(w->threads[i].shadow.frames);
	free(w->parked.slots);
	free(w->frames);
}
