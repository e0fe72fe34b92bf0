/* SPDX-License-Identifier: MIT */
/*
 * graph.c - the graph tracer: one event for each call, at its end, with its depth and duration; short calls
 * are omitted.
 */
#include <func/func.h>
#include "tracers.h"

/* Without an exit, only the entry can be recorded. */
static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	if ((frame->user & HODO_USER_NO_EXIT) && !hodo_func_too_deep(frame) && !hodo_func_config.limit_ticks)
		hodo_func_emit_at(HODO_FUNC_REACHED, frame->function, frame->at);
}

static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	uint64_t ticks = hodo_func_ticks(frame, end, now);

	if (!(frame->user & HODO_USER_NO_EXIT) && !hodo_func_too_deep(frame) && ticks >= hodo_func_config.limit_ticks)
		hodo_func_emit_call(frame, end, ticks);
}

const struct hodo_builtin_ops hodo_builtin_graph = { .enter = enter, .exit = leave };
