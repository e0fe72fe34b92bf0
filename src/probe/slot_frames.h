/* SPDX-License-Identifier: MIT */
/*
 * slot_frames.h - what an unwinder needs where it finds a thread in a slot: to it, the slot was called by the program's
 * instruction that is about to run there, with the stack pointer and registers that the program has (DWARF's call frame
 * information, with the augmentation of signal frames, so that this address is not taken for one behind a call).
 *
 * For each slot, one behind the other: its description, a terminator, and an .eh_frame_hdr that leads to the
 * description. They hold whole addresses, and so may lie anywhere.
 */
#ifndef HODO_PROBE_SLOT_FRAMES_H
#define HODO_PROBE_SLOT_FRAMES_H

#include "recipe.h"

struct hodo_slot_frame {
	uint64_t slot;
	uint32_t bytes;  /* of its code */
	uint32_t header; /* in the bytes below, of its .eh_frame_hdr */
	uint32_t number; /* the caller's */
};

/* All zero: there are none. */
struct hodo_slot_frames {
	uint8_t *bytes; /* they begin at a multiple of 8, wherever they are */
	uint32_t n, room;
	struct hodo_slot_frame *list; /* by slot, once sorted */
	uint32_t nlist;
};

/*
 * Adds a slot, whose code was written by hodo_probe_recipe_emit(). Of hooks all bytes must be instructions, which
 * change the stack pointer by push and pop, lea, add and sub of a constant alone. 0, -ENOMEM or -E2BIG.
 */
int hodo_slot_frames_add(struct hodo_slot_frames *f, const struct hodo_probe_recipe *r, uint64_t slot,
			 uint32_t number, const uint8_t *code);
void hodo_slot_frames_sort(struct hodo_slot_frames *f);
void hodo_slot_frames_free(struct hodo_slot_frames *f);

#endif
