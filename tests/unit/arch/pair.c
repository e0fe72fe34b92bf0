/* SPDX-License-Identifier: MIT */
/* pair.c - see pair.h. */
#include "pair.h"
#include <func/func.h>
#include <x86intrin.h>
#include <user/event/event.h>

#define CPUS 1024
#define EPOCH (1ull << HODO_EPOCH_SHIFT)

struct bench a, t;
unsigned done, interrupted;
uint32_t on;

static uint64_t random_state = 88172645463325252ull;
uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Views of every CPU on one ring: whichever this thread is on. */
struct hodo_view *views_of(struct bench *b)
{
	struct hodo_view *views = (struct hodo_view *)calloc(HODO_VIEWS_ALL, sizeof(*views)) + HODO_VIEWS_BEFORE;

	for (int i = 0; i < CPUS; i++)
		views[i] = b->view;
	return views;
}

void views_drop(void)
{
	free(hodo_tls.table - HODO_VIEWS_BEFORE);
	hodo_tls.table = hodo_no_views;
}

int pair_begin(void **state)
{
	hodo_emit_init();
	hodo_func_rseq_offset = hodo_rseq_offset; /* as libhodo-func's init() does, which is not linked here */
	bench_init(&a, HODO_MODE_OVERWRITE);
	bench_init(&t, HODO_MODE_OVERWRITE);
	hodo_tls.table = views_of(&a);
	hodo_tls.tid = 77;
	on = HODO_ON_RECORD;
	for (unsigned i = 0; i < HODO_FUNC_EVENTS; i++)
		hodo_func_states[i] = (struct hodo_state){ .on = &on, .id = (uint16_t)(100 + i) };
	done = interrupted = 0;
	return 0;
}

int pair_end(void **state)
{
	views_drop();
	free(a.data);
	free(t.data);
	return 0;
}

void switch_both(void)
{
	struct bench *both[] = { &a, &t };
	uint64_t now = __rdtsc();

	for (int i = 0; i < 2; i++) {
		struct hodo_switch plan;

		assert_int_equal(hodo_ring_plan(&both[i]->config, &both[i]->view, 3, both[i]->ring.word, &plan), 0);
		plan.now = now;
		assert_int_equal(hodo_twin_switch(&plan), 0);
	}
}

/* Another thread's turn; time passes; a packet is full. */
void something_happens(void)
{
	switch (random_next() % 16) {
	case 0:
		hodo_tls.tid = 77 + (uint32_t)(random_next() % 3 + (random_next() % 4 == 0) * (1u << HODO_TID_BITS));
		break;
	case 1:
		if (a.ring.anchor)
			a.ring.anchor = --t.ring.anchor; /* the last one was in the epoch before */
		break;
	}
	if (!hodo_ring_has_room(a.ring.word, PACKET, 0))
		switch_both();
}

/* Leaves so much room; anchored: the ring knows an anchor of this thread and moment. */
void leave(uint64_t bytes, bool anchored)
{
	bench_used(&a, PACKET - bytes);
	memset(a.data, UNTOUCHED, RING);
	memset(t.data, UNTOUCHED, RING);
	t.ring.word = a.ring.word;
	a.ring.anchor = t.ring.anchor = anchored ? hodo_anchor_key(hodo_tls.tid, __rdtsc()) : 0;
	a.ring.window = t.ring.window = hodo_anchor_window((uintptr_t)__builtin_frame_address(0)) + 8;
}

/* Checks that nothing was written into the next packet. */
void within(void)
{
	assert_int_equal(a.data[PACKET], UNTOUCHED);
}

struct attempt attempt(void)
{
	struct attempt before = { bench_position(&a), 0 };

	assert_int_equal(a.ring.word, t.ring.word);
	before.ticks = __rdtsc();
	return before;
}

uint64_t written(const struct attempt *before) { return bench_position(&a) - before->position; }

/* Whose record the assembly wrote, and when, by its own account; or whose it would write now. */
struct hodo_twin_by by_now(const struct attempt *before)
{
	uint64_t first = bench_u64(&a, before->position), rest = bench_u64(&a, before->position + 8);
	struct hodo_twin_by by = { hodo_tls.tid, __rdtsc(), 0 };

	if (!written(before))
		return by;
	if ((first & HODO_FORM_MASK) == HODO_FORM_ANCHOR) {
		by.now = first & ~3ull;
		by.window = rest >> HODO_TID_BITS << HODO_WINDOW_SHIFT;
	} else {
		by.now = (a.ring.anchor & UINT32_MAX) * EPOCH + (first & HODO_TIME_MASK);
	}
	assert_true(by.now >= (before->ticks & ~3ull));
	assert_true(by.now <= __rdtsc());
	return by;
}

/* Both have written, an anchor or not. */
void same(const struct attempt *before)
{
	uint8_t *p = a.data + (before->position & (RING - 1)), *q = t.data + (before->position & (RING - 1));

	done++;
	assert_int_equal(a.ring.word, t.ring.word);
	assert_memory_equal(p, q, written(before));
	if (a.ring.anchor == 0 && t.ring.anchor) { /* before it could say so */
		interrupted++;
		t.ring.anchor = 0;
		t.ring.window = a.ring.window;
	}
	assert_int_equal(a.ring.anchor, t.ring.anchor);
	assert_int_equal(a.ring.window, t.ring.window);
}

/* The assembly has written nothing; the twin has, if it had the same chance. */
void nothing(const struct attempt *before, enum hodo_twin twin)
{
	t.ring.word = a.ring.word;
	if (twin != HODO_TWIN_DONE) {
		assert_int_equal(a.ring.anchor, t.ring.anchor);
		return;
	}
	interrupted++;
	t.ring.anchor = a.ring.anchor;
	t.ring.window = a.ring.window;
}
