/* SPDX-License-Identifier: MIT */
/* test_shadow.c - core/shadow.c: the cases one by one, and random worlds whose truth is known. */
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include "shadow_world.h"

/* ------------------------------------------------------------------ one by one */

struct call {
	uint64_t at, total, children;
	enum hodo_frame_end end;
};
static struct call log_[64];
static unsigned nlog;

static void note(struct hodo_shadow *s, const struct hodo_frame *f, enum hodo_frame_end end, uint64_t now)
{
	(void)s;
	assert_true(nlog < 64);
	log_[nlog++] = (struct call){ f->at, now - f->entry, f->children, end };
}

static struct hodo_frame table[64];
static struct hodo_parked parked;

static void start(struct hodo_shadow *s, struct hodo_frame *frames, uint32_t max, bool known)
{
	memset(table, 0, sizeof(table));
	parked = (struct hodo_parked){ .slots = table, .mask = 63 };
	*s = (struct hodo_shadow){ .frames = frames, .max = max, .parked = &parked, .closed = note };
	if (known) {
		s->stack_low = 0x700000;
		s->stack_high = 0x800000;
	}
	nlog = 0;
}

static void is_told(unsigned i, uint64_t at, enum hodo_frame_end end, uint64_t total, uint64_t children)
{
	assert_true(i < nlog);
	assert_int_equal(log_[i].at, at);
	assert_int_equal(log_[i].end, end);
	assert_int_equal(log_[i].total, total);
	assert_int_equal(log_[i].children, children);
}

TEST(nested)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	start(&s, frames, 8, true);
	assert_int_equal(hodo_shadow_enter(&s, 0x7ff000, 1, 10, false)->depth, 0);
	assert_int_equal(hodo_shadow_enter(&s, 0x7fe000, 2, 20, false)->depth, 1);
	assert_true(hodo_shadow_exit(&s, 0x7fe000, 2, 25, false, 0));
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 1, 40, false, 0));
	assert_int_equal(nlog, 2);
	is_told(0, 0x7fe000, HODO_FRAME_RETURNED, 5, 0);
	is_told(1, 0x7ff000, HODO_FRAME_RETURNED, 30, 5);
	assert_false(hodo_shadow_exit(&s, 0x7ff000, 1, 41, false, 0));
	assert_int_equal(s.orphans, 1);
}

TEST(exception)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	start(&s, frames, 8, true);
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, false);
	hodo_shadow_enter(&s, 0x7fe000, 2, 20, false);
	hodo_shadow_enter(&s, 0x7fd000, 3, 30, false);
	/* An entry between two frames reveals that calls were left. */
	assert_int_equal(hodo_shadow_enter(&s, 0x7fe800, 4, 40, false)->depth, 1);
	is_told(0, 0x7fd000, HODO_FRAME_LEFT, 10, 0);
	is_told(1, 0x7fe000, HODO_FRAME_LEFT, 20, 10);
	/* An entry at the same place reveals it, and so does an exit. */
	hodo_shadow_enter(&s, 0x7fe800, 5, 50, false);
	is_told(2, 0x7fe800, HODO_FRAME_LEFT, 10, 0);
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 1, 60, false, 0));
	is_told(3, 0x7fe800, HODO_FRAME_LEFT, 10, 0);
	is_told(4, 0x7ff000, HODO_FRAME_RETURNED, 50, 40);
	assert_int_equal(nlog, 5);
}

TEST(landed)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	/* No function is entered where an exception is caught, but what is deeper is over nevertheless. */
	start(&s, frames, 8, true);
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, false);
	hodo_shadow_enter(&s, 0x7fe000, 2, 20, false);
	hodo_shadow_enter(&s, 0x7fd000, 3, 30, false);
	hodo_shadow_landed(&s, 0x7fe800, 40, false);
	assert_int_equal(s.n, 1);
	is_told(0, 0x7fd000, HODO_FRAME_LEFT, 10, 0);
	is_told(1, 0x7fe000, HODO_FRAME_LEFT, 20, 10);
	hodo_shadow_landed(&s, 0x7fe800, 50, false);
	hodo_shadow_landed(&s, 0x7fd000, 50, false);
	assert_int_equal(nlog, 2);
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 1, 60, false, 0));
	/* A landing in a function that is not traced, with none around it that is. */
	hodo_shadow_enter(&s, 0x7fe000, 2, 70, false);
	hodo_shadow_landed(&s, 0x7fe000, 80, false);
	is_told(3, 0x7fe000, HODO_FRAME_LEFT, 10, 0);
	assert_int_equal(s.n, 0);
}

TEST(landed_somewhere)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	/* Where the stacks are not known: the frames are parked, as left. */
	start(&s, frames, 8, false);
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, false);
	hodo_shadow_enter(&s, 0x7fe000, 2, 20, false);
	hodo_shadow_landed(&s, 0x7fe800, 30, false);
	assert_int_equal(s.n, 1);
	hodo_shadow_landed(&s, 0x7ff800, 40, false);
	assert_int_equal(s.n, 0);
	assert_int_equal(parked.count, 2);
	for (unsigned i = 0; i < 64; i++)
		assert_true(!table[i].at || table[i].lane == 1);
	/* On a coroutine's stack, which is higher: the calls on the other stack wait, and no others are affected. */
	hodo_shadow_enter(&s, 0x10000, 3, 50, false);
	hodo_shadow_landed(&s, 0x7f0000, 60, true);
	assert_int_equal(s.n, 1);
	hodo_shadow_enter(&s, 0x7ef000, 4, 70, false);
	hodo_shadow_landed(&s, 0xf800, 80, true);
	assert_int_equal(s.n, 1);
	assert_int_equal(parked.count, 3);
	assert_true(hodo_shadow_exit(&s, 0x7ef000, 4, 90, false, 0));
	is_told(0, 0x7ef000, HODO_FRAME_RETURNED, 20, 0);
	assert_true(hodo_shadow_exit(&s, 0x10000, 3, 100, false, 0));
	is_told(1, 0x10000, HODO_FRAME_RETURNED, 50, 10);
}

TEST(nobody_is_above)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	start(&s, frames, 8, true);
	hodo_shadow_enter(&s, 0x7f0000, 1, 10, false);
	hodo_shadow_enter(&s, 0x7e0000, 2, 20, false);
	/* On the thread's own stack, and higher than all frames: these are over. */
	assert_int_equal(hodo_shadow_enter(&s, 0x7f8000, 3, 30, false)->depth, 0);
	assert_int_equal(nlog, 2);
	start(&s, frames, 8, false);
	hodo_shadow_enter(&s, 0x7f0000, 1, 10, false);
	/* If stacks are not known, it may be a signal's stack. */
	assert_int_equal(hodo_shadow_enter(&s, 0x7f8000, 3, 30, false)->depth, 1);
	assert_int_equal(nlog, 0);
	assert_true(hodo_shadow_exit(&s, 0x7f0000, 1, 40, false, 0));
	assert_int_equal(parked.count, 1);
	assert_true(hodo_shadow_exit(&s, 0x7f8000, 3, 50, false, 0));
	is_told(1, 0x7f8000, HODO_FRAME_RETURNED, 20, 0);
}

TEST(other_stacks)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	start(&s, frames, 8, true);
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, false);
	hodo_shadow_enter(&s, 0x10000, 2, 20, false); /* coroutine */
	assert_int_equal(hodo_shadow_enter(&s, 0xf000, 3, 30, false)->depth, 2);
	/* Back on the thread's own stack: the coroutine waits. */
	assert_int_equal(hodo_shadow_enter(&s, 0x7fe000, 4, 40, false)->depth, 1);
	assert_int_equal(parked.count, 2);
	assert_int_equal(nlog, 0);
	assert_true(hodo_shadow_exit(&s, 0x7fe000, 4, 50, false, 0));
	/* The exit of the coroutine's call comes through another thread's shadow. */
	assert_true(hodo_shadow_exit(&s, 0xf000, 3, 60, false, 0));
	is_told(1, 0xf000, HODO_FRAME_RETURNED, 30, 0);
	/* An entry in the place of a parked frame reveals that the frame was left, at the time when it was parked. */
	hodo_shadow_enter(&s, 0x10000, 5, 70, false);
	is_told(2, 0x10000, HODO_FRAME_LEFT, 20, 10);
	assert_int_equal(parked.count, 0);
}

TEST(exit_elsewhere)
{
	struct hodo_frame frames[8], frames2[8];
	struct hodo_shadow s, t;

	start(&s, frames, 8, true);
	t = s;
	t.frames = frames2;
	t.stack_low = t.stack_high = 0;
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, false);
	hodo_shadow_enter(&s, 0x10000, 2, 20, false);
	assert_false(hodo_shadow_exit(&t, 0x10000, 2, 30, false, 0)); /* the coroutine continued in the other thread */
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 1, 90, false, 0));
	is_told(0, 0x10000, HODO_FRAME_RETURNED, 10, 0);
	is_told(1, 0x7ff000, HODO_FRAME_RETURNED, 80, 10);
	assert_int_equal(s.orphans + t.orphans, 0);
	assert_int_equal(parked.count, 0);
	/* An exit that is older than the entry belongs to another frame. */
	assert_false(hodo_shadow_exit(&t, 0x10000, 2, 100, false, 0));
	hodo_shadow_enter(&s, 0x10000, 2, 110, false);
	hodo_shadow_clear(&s, 120);
	is_told(2, 0x10000, HODO_FRAME_LEFT, 10, 0);
}

static bool agrees(struct hodo_shadow *s, const struct hodo_frame *f, uint64_t function)
{
	(void)s;
	return f->function == function;
}

TEST(lost_events)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	start(&s, frames, 8, true);
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, false);
	hodo_shadow_enter(&s, 0x7fe000, 2, 20, false);
	/* The exit of 2 and the entry of 3 were lost. */
	assert_false(hodo_shadow_exit(&s, 0x7fe000, 3, 30, false, agrees));
	is_told(0, 0x7fe000, HODO_FRAME_LEFT, 10, 0);
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 1, 40, false, agrees));
	assert_int_equal(s.orphans, 1);
}

TEST(stack_pointers)
{
	struct hodo_frame frames[8];
	struct hodo_shadow s;

	start(&s, frames, 8, true);
	hodo_shadow_enter(&s, 0x7ff000, 1, 10, true);
	assert_int_equal(hodo_shadow_enter(&s, 0x7ff000, 2, 20, true)->depth, 1); /* inlined */
	hodo_shadow_enter(&s, 0x7fe000, 3, 30, true);
	assert_true(hodo_shadow_exit(&s, 0x7fdff0, 3, 40, true, 0)); /* alloca */
	is_told(0, 0x7fe000, HODO_FRAME_RETURNED, 10, 0);
	hodo_shadow_enter(&s, 0x7fe000, 4, 50, true);
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 2, 60, true, 0)); /* 4 was left */
	is_told(1, 0x7fe000, HODO_FRAME_LEFT, 10, 0);
	is_told(2, 0x7ff000, HODO_FRAME_RETURNED, 40, 20);
	assert_true(hodo_shadow_exit(&s, 0x7fef00, 1, 70, true, 0));
	assert_int_equal(nlog, 4);
	assert_false(hodo_shadow_exit(&s, 0x7fef00, 1, 80, true, 0));
}

TEST(no_room)
{
	struct hodo_frame frames[4];
	struct hodo_shadow s;

	start(&s, frames, 4, true);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(!!hodo_shadow_enter(&s, 0x7ff000 - 64 * i, i, i, false), i < 4);
	assert_int_equal(s.deep, 6);
	for (unsigned i = 10; i-- > 0;)
		assert_int_equal(hodo_shadow_exit(&s, 0x7ff000 - 64 * i, i, 100 - i, false, 0), i < 4);
	assert_int_equal(s.orphans, 6);
	assert_int_equal(nlog, 4);
}

/* More lanes than the search covers: no frame is lost, and the oldest in the table make room. */
TEST(many_lanes)
{
	static struct hodo_frame frames[1024];
	struct hodo_shadow s;

	start(&s, frames, 1024, true);
	hodo_shadow_enter(&s, 0x7ff000, 1, 1, false);
	for (unsigned i = 0; i < 100; i++)
		hodo_shadow_enter(&s, 0x1000000 + i * 0x100000, 2, 2 + i, false);
	assert_true(s.n <= 66);
	nlog = 0;
	/* 3/4 of 63 fit. */
	assert_true(hodo_shadow_exit(&s, 0x1000000 + 99 * 0x100000, 2, 200, false, 0));
	assert_true(hodo_shadow_exit(&s, 0x1000000 + 60 * 0x100000, 2, 201, false, 0));
	assert_true(hodo_shadow_exit(&s, 0x7ff000, 1, 300, false, 0));
	assert_int_equal(s.n, 0);
}

/* ---------------------------------------------------------------------- worlds */

static void check(struct world *w)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < w->nframes; i++) {
		const struct world_frame *f = &w->frames[i];

		assert_int_equal(f->closed, !f->refused);
		if (f->refused)
			continue;
		if (w->o.silent_moves) {
			wrong += (f->state == RETURNED) != (f->end == HODO_FRAME_RETURNED) ||
				 (f->state == RETURNED && f->closed_at != f->exit);
		} else if (f->state == RETURNED) {
			assert_int_equal(f->end, HODO_FRAME_RETURNED);
			assert_int_equal(f->closed_at, f->exit);
		} else {
			assert_int_equal(f->end, HODO_FRAME_LEFT);
		}
	}
	/* Wrong only where chains of several threads have frames of one address at the same time. */
	assert_true(wrong * 200 <= w->nframes);
}

static void worlds(struct world_options o, uint64_t seeds)
{
	for (o.seed = 1; o.seed <= seeds; o.seed++) {
		struct world w;

		world_run(&w, &o);
		world_end(&w);
		assert_true(w.entered > o.steps / 10);
		check(&w);
		world_free(&w);
	}
}

TEST(worlds_calm)
{
	worlds((struct world_options){ .steps = 3000, .stacks_known = true, .calm = true }, 60);
	worlds((struct world_options){ .steps = 3000, .calm = true }, 60);
}

TEST(worlds_jumps)
{
	worlds((struct world_options){ .steps = 3000, .stacks_known = true }, 100);
	worlds((struct world_options){ .steps = 3000 }, 100);
}

TEST(worlds_coroutines)
{
	worlds((struct world_options){ .steps = 3000, .stacks_known = true, .coroutines = true }, 100);
	worlds((struct world_options){ .steps = 3000, .coroutines = true }, 100);
	worlds((struct world_options){ .steps = 60000, .coroutines = true }, 3);
}

TEST(worlds_silent)
{
	worlds((struct world_options){ .steps = 3000, .coroutines = true, .silent_moves = true }, 100);
}

TEST(worlds_sp)
{
	worlds((struct world_options){ .steps = 3000, .stacks_known = true, .sp = true }, 100);
	worlds((struct world_options){ .steps = 3000, .stacks_known = true, .sp = true, .calm = true }, 50);
}
