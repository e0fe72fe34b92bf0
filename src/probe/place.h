/* SPDX-License-Identifier: MIT */
/*
 * place.h - addresses for slots. The distance from a window to its slot is four bytes of the jump, and those of them on
 * which an instruction began must trap: int3, or a byte that begins no instruction in 64-bit mode.
 */
#ifndef HODO_PROBE_PLACE_H
#define HODO_PROBE_PLACE_H

#include "recipe.h"
#include "space.h"

/* The bytes that trap: int3 raises SIGTRAP with the address behind it, the others SIGILL with their own. */
#define HODO_PROBE_TRAPS 17u
extern const uint8_t hodo_probe_traps[HODO_PROBE_TRAPS]; /* int3 is the first */

struct hodo_probe_slot {
	uint64_t addr;      /* of the window in memory */
	uint64_t low, high; /* what each byte of the slot must reach */
	uint32_t bytes;     /* at most HODO_PROBE_PAGE_BYTES */
	uint8_t kind;       /* enum hodo_probe_kind: one of a trap can be anywhere that reaches */
	uint8_t boundaries; /* of the window */
	bool undefined;     /* out: other bytes than int3 are among those that trap */
	uint64_t slot;      /* out; 0: there is no place for it */
};

/* What a window and its recipe ask for. */
struct hodo_probe_slot hodo_probe_slot_of(const struct hodo_probe_window *w, const struct hodo_probe_recipe *r);

/*
 * Finds a place for each, those first that have the least choice: with int3 alone if that can be, in pages that are
 * ours already before fresh ones. The pages are the space's then. 0; -ENOMEM; -EINVAL: one of them is too long.
 */
int hodo_probe_place(struct hodo_probe_space *s, struct hodo_probe_slot *slots, size_t n);

#endif
