/* SPDX-License-Identifier: MIT */
/*
 * slot_frames.h - what an unwinder needs when a thread is in a slot: it appears as if the program's
 * instruction that is about to run had called the slot, with the program's stack pointer and registers
 * (DWARF's call frame information, with the augmentation of signal frames, so that the address is not taken
 * for a return address).
 *
 * For each slot in turn: its description, a terminator, and an .eh_frame_hdr that points to the description.
 * They contain absolute addresses, and so may be anywhere.
 */
#pragma once

#include <probe/patch/recipe.h>

struct hodo_slot_frame {
	uint64_t slot;
	uint32_t bytes;  /* of its code */
	uint32_t header; /* in the bytes below, of its .eh_frame_hdr */
	uint32_t number; /* the caller's */
};

/* All zero: there are none. */
struct hodo_slot_frames {
	uint8_t *bytes; /* must begin at a multiple of 8 */
	uint32_t n, room;
	struct hodo_slot_frame *list; /* by slot, once sorted */
	uint32_t nlist;
};

/*
 * Adds a slot with code from hodo_probe_recipe_emit(). All bytes of hooks must be instructions, which may
 * change the stack pointer only by push and pop, and by lea, add and sub of a constant. 0, -ENOMEM or -E2BIG.
 */
int hodo_slot_frames_add(struct hodo_slot_frames *f, const struct hodo_probe_recipe *r, uint64_t slot,
			 uint32_t number, const uint8_t *code);
void hodo_slot_frames_sort(struct hodo_slot_frames *f);
void hodo_slot_frames_free(struct hodo_slot_frames *f);
