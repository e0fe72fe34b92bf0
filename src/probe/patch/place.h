/* SPDX-License-Identifier: MIT */
/*
 * place.h - addresses for slots. The distance from a window to its slot is four bytes of the jump; those
 * where an instruction began must trap: int3, or a byte that begins no instruction in 64-bit mode.
 */
#pragma once

#include "recipe.h"
#include "space.h"

/* The bytes that trap: int3 raises SIGTRAP with the address after it, the others SIGILL with their own. */
#define HODO_PROBE_TRAPS 17u
extern const uint8_t hodo_probe_traps[HODO_PROBE_TRAPS]; /* int3 is the first */

struct hodo_probe_slot {
	uint64_t addr;      /* of the window in memory */
	uint64_t low, high; /* addresses that each byte of the slot must reach */
	uint32_t bytes;     /* at most HODO_PROBE_PAGE_BYTES */
	uint8_t kind;       /* enum hodo_probe_kind: a trap's slot can be anywhere within reach */
	uint8_t boundaries; /* of the window */
	bool undefined;     /* out: some trapping bytes are not int3 */
	uint64_t slot;      /* out; 0: no place */
};

/* What a window and its recipe require. */
struct hodo_probe_slot hodo_probe_slot_of(const struct hodo_probe_window *w, const struct hodo_probe_recipe *r);

/*
 * Finds a place for each, starting with those that have the least choice: with only int3 if possible, in our
 * pages before fresh ones. The space then owns the pages. 0; -ENOMEM; -EINVAL: one of them is too long.
 */
int hodo_probe_place(struct hodo_probe_space *s, struct hodo_probe_slot *slots, size_t n);
