/* SPDX-License-Identifier: MIT */
/* test_hooks.c - what slots at functions' entries and exits call if only these are recorded, against its twin. */
#include "pair.h"
#include <func/func.h>

/*
 * Calls a hook as a slot does, `down` bytes farther down on the stack; rdi as with -finstrument-functions, rbp as
 * with -pg. Stores the slot's address in pc, its stack pointer in at. rsi, the call site of the function, is not where
 * the hook returns to: the function has not left its frame.
 */
static void call_hook(void (*hook)(void), uint64_t function, uint64_t down, uint64_t *pc, uint64_t *at)
{
	uint64_t frame, stack;

	__asm__ volatile("movq %%rsp, %3\n\t"
			 "andq $-16, %%rsp\n\t"
			 "subq %7, %%rsp\n\t" /* past the red zone */
			 "movq %%rsp, %1\n\t"
			 "leaq 1f(%%rip), %0\n\t"
			 "movq %%rbp, %2\n\t"
			 "movq %%rsp, %%rbp\n\t"
			 "call *%6\n"
			 "1:\tmovq %2, %%rbp\n\t"
			 "movq %3, %%rsp"
			 : "=&r"(*pc), "=&r"(*at), "=&r"(frame), "=&r"(stack)
			 : "D"(function), "S"(0ul), "r"(hook), "r"(down + 256)
			 : "memory", "cc");
}

/* src/func/x86_64/func.S */
void hodo_x86_record_entry(void), hodo_x86_record_exit(void), hodo_x86_record_entry_sp(void);
void hodo_x86_record_exit_sp(void), hodo_x86_record_reached(void), hodo_x86_record_mcount(void);
void hodo_x86_short_entry(void), hodo_x86_short_exit(void);

static const struct {
	void (*hook)(void);
	enum hodo_func_event event;
	bool takes_function, has_frame;
} hooks[] = {
	{ hodo_x86_record_entry, HODO_FUNC_ENTRY, false, false },
	{ hodo_x86_record_exit, HODO_FUNC_EXIT, false, false },
	{ hodo_x86_record_entry_sp, HODO_FUNC_ENTRY_SP, true, false },
	{ hodo_x86_record_exit_sp, HODO_FUNC_EXIT_SP, true, false },
	{ hodo_x86_record_reached, HODO_FUNC_REACHED, false, false },
	{ hodo_x86_record_mcount, HODO_FUNC_REACHED, false, true },
};

static void record(unsigned which)
{
	uint64_t function = random_next(), pc, at;
	struct attempt before = attempt();
	struct hodo_twin_by by;
	enum hodo_twin twin;
	uint8_t data[16]; /* 12 belong to the event */

	call_hook(hooks[which].hook, function, random_next() % 64 * 4, &pc, &at);
	at += hooks[which].has_frame ? 8 : 0;
	memcpy(data, hooks[which].takes_function ? &function : &pc, 8);
	memcpy(data + 8, &(uint32_t){ HODO_FRAME32(at) }, 4);
	by = by_now(&before);
	twin = hodo_twin_emit(&t.view, &hodo_func_states[hooks[which].event], &by, data, 12);
	if (!written(&before)) {
		nothing(&before, twin);
		return;
	}
	assert_int_equal(twin, HODO_TWIN_DONE);
	same(&before);
}

static void write_anchored(void)
{
	struct hodo_state *state = &hodo_func_states[HODO_FUNC_ENTRY];
	struct attempt before = attempt();
	struct hodo_twin_by by;

	if (hodo_x86_try(state, NULL, 0, 0, on) != HODO_TRY_DONE) {
		nothing(&before, HODO_TWIN_DONE);
		return;
	}
	by = by_now(&before);
	assert_int_equal(hodo_twin_try(&t.view, state, &by, NULL, 0, 0, on), HODO_TWIN_DONE);
	same(&before);
}

TEST(test_hooks_against_twin, .setup = pair_begin, .teardown = pair_end)
{
	for (int round = 0; round < 20000; round++) {
		something_happens();
		if (!hodo_ring_has_room(a.ring.word, PACKET, 12))
			switch_both();
		if (round % 8)
			record((unsigned)(random_next() % 6));
		else
			write_anchored(); /* hooks do not write anchors for events */
	}
	assert_true(done > 5000 && interrupted < 10000);
	for (uint64_t bytes = 8; bytes < 60; bytes++) {
		for (unsigned which = 0; which < 6; which++) {
			leave(bytes, true);
			record(which);
			within();
		}
	}
}

/* The number of bytes that were written. */
static uint64_t record_short(bool exit, uint64_t down)
{
	const struct hodo_state *state = &hodo_func_states[exit ? HODO_FUNC_EXIT : HODO_FUNC_ENTRY];
	struct attempt before = attempt();
	struct hodo_twin_by by;
	enum hodo_twin twin;
	uint64_t pc, at;

	call_hook(exit ? hodo_x86_short_exit : hodo_x86_short_entry, 0, down, &pc, &at);
	by = by_now(&before);
	twin = hodo_twin_short(&t.view, state, &by, exit, pc, at);
	if (written(&before) != 8 && twin == HODO_TWIN_DONE) { /* at the first attempt */
		interrupted++;
		t.ring.word = before.position << HODO_WORD_COUNT_BITS |
			      (hodo_word_events(t.ring.word) - 1);
	}
	if (written(&before) == 0) {
		bool could = at % 16 == 8 &&
			     hodo_ring_has_room(t.ring.word, PACKET, HODO_CALL_BYTES - HODO_EVENT_HEADER);

		nothing(&before, could ? HODO_TWIN_DONE : HODO_TWIN_SLOW);
		return 0;
	}
	if (written(&before) != 8) {
		assert_int_equal(hodo_twin_call(&t.view, state, &by, hodo_twin_call_record(exit, pc, at)),
				 HODO_TWIN_DONE);
		assert_int_equal(by.window, hodo_anchor_window(at));
	}
	same(&before);
	return written(&before);
}

TEST(test_short_hooks_against_twin, .setup = pair_begin, .teardown = pair_end)
{
	for (int round = 0; round < 20000; round++) {
		something_happens();
		/* Most are 8 above a multiple of 16, inside a window and outside of it; some are not. */
		record_short(random_next() % 2, random_next() % 8 ? 8 + random_next() % 2048 * 16 : random_next() % 64);
	}
	assert_true(done > 5000 && interrupted < 10000);
	for (uint64_t bytes = 8; bytes < 60; bytes++) {
		for (int round = 0; round < 4; round++) {
			leave(bytes, round & 1);
			record_short(round & 2, 8);
			within();
		}
	}
}

#define DOWN 20008 /* 8 above a multiple of 16; there is as much above and below */

/* How far, in steps, from a call of 24 bytes the next of 8 may be on the stack; again, if something came between. */
static uint64_t reach(int64_t step)
{
	for (int i = 0; i < 100; i++) {
		unsigned before = interrupted;
		uint64_t anchor;
		int64_t far = 0;

		leave(1024, false);
		if (record_short(false, DOWN) != 24)
			continue;
		anchor = a.ring.anchor;
		do {
			bench_used(&a, PACKET - 1024);
			t.ring.word = a.ring.word;
			far += step;
		} while (record_short(true, (uint64_t)(DOWN + far)) == 8);
		if (interrupted == before && a.ring.anchor == anchor)
			return (uint64_t)(far < 0 ? -far : far);
	}
	return 0;
}

/* `bytes` bytes are written, except where a sequence is interrupted or an epoch ends. */
static void expect(uint64_t bytes, bool exit, uint64_t down, bool anchored)
{
	for (int i = 0; i < 100; i++) {
		leave(1024, anchored);
		if (record_short(exit, down) == bytes)
			return;
	}
	fail();
}

/* A call takes 8 bytes in the window of the last anchor; otherwise it brings an anchor, with itself in the middle. */
TEST(test_window, .setup = pair_begin, .teardown = pair_end)
{
	assert_in_range(reach(16), HODO_WINDOW / 2 - 256, HODO_WINDOW / 2 + 256);
	assert_in_range(reach(-16), HODO_WINDOW / 2 - 256, HODO_WINDOW / 2 + 256);
	/* Where the ABI does not allow a frame, there is no call. */
	for (uint64_t down = 1; down < 16; down++) {
		expect(down == 8 ? 8 : 0, false, down, true);
		expect(down == 8 ? 24 : 0, true, down, false);
	}
}
