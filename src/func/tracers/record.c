/* SPDX-License-Identifier: MIT */
/*
 * record.c - the record tracer: an event at each entry and each exit. This is its path through dispatch, used
 * when it is not the only tracer, omits deep calls, or return addresses are replaced; else the trampolines
 * write the events themselves.
 */
#include <func/func.h>
#include <func/threads.h>
#include "tracers.h"

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	if (!hodo_func_too_deep(frame))
		hodo_func_emit_at(frame->user & HODO_USER_NO_EXIT ? HODO_FUNC_REACHED :
				  frame->sp ? HODO_FUNC_ENTRY_SP : HODO_FUNC_ENTRY, frame->function, frame->at);
}

/*
 * An exit known only by its frame: with a limit of depth, or if the return address was replaced. Nothing is
 * written for a call left without an exit, which the reader finds as the shadow does, nor for one that
 * returned in another thread, which has written it.
 */
static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	if (end == HODO_FRAME_RETURNED && now == hodo_func_thread(shadow)->exit_ticks && !hodo_func_too_deep(frame))
		hodo_record_exit(frame->function, frame->at, frame->sp);
}

/* All other exits are written as they come. */
void hodo_record_exit(uint64_t addr, uint64_t at, bool sp)
{
	hodo_func_emit_at(sp ? HODO_FUNC_EXIT_SP : HODO_FUNC_EXIT, addr, at);
}

const struct hodo_builtin_ops hodo_builtin_record = { .enter = enter, .exit = leave };
