/* SPDX-License-Identifier: MIT */
/*
 * twin.h - the assembly writer's routines again in C, step by step as its
 * pseudocode says (src/arch/x86_64/writer.S, src/func/x86_64/func.S), for a caller that is alone on
 * the ring: the tests hold the two against each other byte for byte, and
 * ThreadSanitizer sees the twin's accesses where it cannot see the assembly's.
 *
 * now: the time stamp, ticks. window: of the anchor, if one is written: the assembly takes it from the stack.
 */
#pragma once

#include <core/ring.h>

/* As enum hodo_try of the user part. */
enum hodo_twin { HODO_TWIN_DONE = 0, HODO_TWIN_SLOW = 1, HODO_TWIN_CHANGED = 2 };

/* Whose thread writes, when. */
struct hodo_twin_by {
	uint32_t tid;
	uint64_t now, window;
};

/* A call's record without its time: pc is after the slot. */
static inline uint64_t hodo_twin_call_record(bool exit, uint64_t pc, uint64_t at)
{
	uint64_t function = (pc - 1) / 4 * 4;

	return (exit ? HODO_FORM_RETURN : HODO_FORM_CALL) | (at & HODO_FRAME_MASK) << HODO_FRAME_SHIFT |
	       function << HODO_FUNCTION_SHIFT;
}

/* The fast writers: an event, or a call (exit: a return) whose frame is at `at`, that need no anchor. */
enum hodo_twin hodo_twin_emit(const struct hodo_view *view, const struct hodo_state *state,
			      const struct hodo_twin_by *by, const void *data, size_t len);
enum hodo_twin hodo_twin_short(const struct hodo_view *view, const struct hodo_state *state,
			       const struct hodo_twin_by *by, bool exit, uint64_t pc, uint64_t at);

/* Writes one event if the on word is `on` and there is room. */
enum hodo_twin hodo_twin_try(const struct hodo_view *view, const struct hodo_state *state,
			     const struct hodo_twin_by *by, const struct hodo_piece *pieces, size_t count, size_t total,
			     uint32_t on);

/* Writes a call or return after an anchor; record has everything except the time. */
enum hodo_twin hodo_twin_call(const struct hodo_view *view, const struct hodo_state *state,
			      const struct hodo_twin_by *by, uint64_t record);

/* 1 if the ring is full for an event of total bytes, which then counts as lost; else 0. */
int hodo_twin_full(const struct hodo_view *view, size_t total);

/* Carries out a plan if the ring has not changed since: 0, else -1. */
int hodo_twin_switch(const struct hodo_switch *plan);
