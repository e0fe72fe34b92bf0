/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * parked.h - the table of parked frames (shadow.h), between shadow.c and parked.c.
 *
 * Calls only the caller's functions: structs are copied field by field, without memcpy().
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

/* sp frames with the same address are different calls if their functions differ: inlined functions share a
 * frame. */
static inline bool hodo_parked_is(const struct hodo_frame *f, uint64_t at, uint64_t function, uint32_t sp)
{
	return f->at == at && f->sp == sp && (sp != 1 || f->function == function);
}

/* Takes out and gives the frame at the address, or the function's nearest sp frame less than so many bytes
 * above it; false: there is none. */
bool hodo_parked_take(struct hodo_parked *parked, uint64_t at, uint64_t function, uint32_t sp, uint64_t within,
		      struct hodo_frame *frame);
/* Puts it in, however full the table is. The frames that it evicts, at most 2, come in evicted[0 .. returned
 * - 1]. -1: not possible. */
int hodo_parked_add(struct hodo_parked *parked, const struct hodo_frame *frame, struct hodo_frame evicted[2]);

#endif
