/* SPDX-License-Identifier: MIT */
/*
 * durations.c - how long calls take, for functions whose exits are events of a plan (hodo/abi_plan.h). Each
 * thread has a second shadow for them, since tracers may have the same frames, and others, in theirs. The
 * rules of dispatch.c apply.
 */
#include <func/dispatch.h>
#include <func/threads.h>
#include "tracers.h"
#include <user/ring/rings.h>
#include <user/user.h>

static uint32_t epoch; /* of the recording: calls of an earlier one may have ended unseen */
static uint64_t scale; /* ns of 2^32 ticks: a division for each call would cost more than all else */

/* Called first for frames that were left, last for the one that has returned. */
static void closed(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	if (end == HODO_FRAME_RETURNED)
		*(uint64_t *)shadow->arg = frame->entry;
}

static bool is_same(struct hodo_shadow *shadow, const struct hodo_frame *frame, uint64_t function)
{
	return frame->function == function && frame->user == hodo_load(&epoch);
}

/* The memory of an ended thread is reused: then n is 0, and the stack is another one. */
static bool is_ready(struct hodo_func_thread *t)
{
	struct hodo_shadow *s = &t->calls;

	if (__builtin_expect(s->frames && (s->n || (s->thread == t->tid && s->stack_low == t->shadow.stack_low)), 1))
		return true;
	s->closed = closed;
	s->arg = &t->began;
	return hodo_func_thread_calls(t);
}

void hodo_duration_begin(uintptr_t at, uintptr_t function)
{
	struct hodo_func_thread *t = hodo_dispatch_begin(at, true, (uintptr_t)__builtin_frame_address(0));
	struct hodo_frame *frame;

	if (!t)
		return;
	frame = is_ready(t) ? hodo_shadow_enter(&t->calls, at, function, hodo_ticks_now(), false) : 0;
	if (frame)
		frame->user = hodo_load(&epoch);
	else
		hodo_dispatch_count(offsetof(struct hodo_shm, func_deep));
	hodo_dispatch_end(t);
}

long hodo_duration_end(uintptr_t at, uintptr_t function)
{
	uint64_t now = hodo_ticks_now();
	struct hodo_func_thread *t = hodo_dispatch_begin(at, false, (uintptr_t)__builtin_frame_address(0));
	long ns = -1;

	if (!t)
		return -1;
	if (is_ready(t) && hodo_shadow_exit(&t->calls, at, function, now, false, is_same))
		ns = now > t->began ? (long)((unsigned __int128)(now - t->began) * hodo_load(&scale) >> 32) : 0;
	hodo_dispatch_end(t);
	return ns < 0 ? -1 : ns;
}

void hodo_durations_recording(void)
{
	hodo_store(&epoch, epoch + 1);
	if (hodo_recording.on && hodo_recording.config.flags & HODO_CONFIG_PLANS)
		hodo_store(&scale, hodo_ticks_ns(1ull << 32));
}
