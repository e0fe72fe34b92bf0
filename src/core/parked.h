/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * parked.h - the table of parked frames (shadow.h), between shadow.c and parked.c.
 *
 * Calls nothing but the caller's functions: structs are copied field by field.
 */
#ifndef HODO_CORE_PARKED_H
#define HODO_CORE_PARKED_H

#include "shadow.h"

static inline void hodo_frame_copy(struct hodo_frame *to, const struct hodo_frame *from)
{
	to->at = from->at;
	to->function = from->function;
	to->entry = from->entry;
	to->children = from->children;
	to->user = from->user;
	to->parked = from->parked;
	to->depth = from->depth;
	to->lane = from->lane;
	to->thread = from->thread;
	to->sp = from->sp;
}

/* sp frames of one address are different calls if the functions are: inlined ones share their frame. */
static inline bool hodo_parked_is(const struct hodo_frame *f, uint64_t at, uint64_t function, uint32_t sp)
{
	return f->at == at && f->sp == sp && (sp != 1 || f->function == function);
}

/* Gives the frame at the address, or the nearest of the function's sp frames less than so many bytes above it, and
 * takes it out; false: there is none. */
bool hodo_parked_take(struct hodo_parked *parked, uint64_t at, uint64_t function, uint32_t sp, uint64_t within,
		      struct hodo_frame *frame);
/* Puts it in, however full the table is. What has to go for it comes in evicted[0 .. returned - 1], at most 2. -1: not
 * possible. */
int hodo_parked_add(struct hodo_parked *parked, const struct hodo_frame *frame, struct hodo_frame evicted[2]);

#endif
