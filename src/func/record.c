/* SPDX-License-Identifier: MIT */
/*
 * record.c - the record tracer: an event at each entry and each exit. This is
 * its way through dispatch, for when it is not alone, leaves deep calls out, or return addresses are
 * replaced; else the trampolines write the events themselves.
 */
#include "func.h"

struct fields {
	uint64_t addr;
	uint32_t at; /* HODO_FRAME32() of the frame or the stack pointer */
	uint32_t beyond; /* read, not written */
};
#define FIELDS_LEN 12

static bool too_deep(const struct hodo_frame *frame)
{
	return hodo_func_config.depth_max && frame->depth >= hodo_func_config.depth_max;
}

static void enter(struct hodo_shadow *shadow, struct hodo_frame *frame)
{
	struct fields f = { frame->function, HODO_FRAME32(frame->at), 0 };

	if (too_deep(frame))
		return;
	hodo_func_emit(frame->user & HODO_USER_NO_EXIT ? HODO_FUNC_REACHED :
		       frame->sp ? HODO_FUNC_ENTRY_SP : HODO_FUNC_ENTRY, &f, FIELDS_LEN);
}

/*
 * An exit known by its frame alone: with a limit of depth, or where the return address was replaced. Of what was
 * left without an exit nothing is written: the reader finds it as the shadow does. Nor of what returned in another
 * thread, which has written that.
 */
static void leave(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	struct fields f = { frame->function, HODO_FRAME32(frame->at), 0 };

	if (end == HODO_FRAME_RETURNED && now == hodo_func_thread(shadow)->exit_ticks && !too_deep(frame))
		hodo_func_emit(frame->sp ? HODO_FUNC_EXIT_SP : HODO_FUNC_EXIT, &f, FIELDS_LEN);
}

/* All others are written as they come. */
void hodo_record_exit(uint64_t addr, uint64_t at, bool sp)
{
	struct fields f = { addr, HODO_FRAME32(at), 0 };

	hodo_func_emit(sp ? HODO_FUNC_EXIT_SP : HODO_FUNC_EXIT, &f, FIELDS_LEN);
}

const struct hodo_builtin_ops hodo_builtin_record = { .enter = enter, .exit = leave };
