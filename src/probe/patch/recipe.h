/* SPDX-License-Identifier: MIT */
/*
 * recipe.h - the copy of a window's instructions that runs instead of them, in a slot at another address: its
 * length, what it must reach, and its bytes once the slot's address is known.
 *
 * The caller's bytes precede the instructions that have a hook. After the last instruction, the copy jumps
 * back to what follows the window. A call becomes a push of its original return address, and a jump, so that
 * return addresses are always the program's.
 */
#pragma once

#include "window.h"

#define HODO_PROBE_HOOK_BYTES   3584u /* at most, each */
#define HODO_PROBE_PUSH_BYTES   6u    /* of the push that replaces a call: FF 35 disp32 */
#define HODO_PROBE_RECIPE_BYTES 160u /* without hooks, at most */
#define HODO_PROBE_SLOT_BYTES   (HODO_PROBE_RECIPE_BYTES + HODO_PROBE_WINDOW_INSTRUCTIONS * HODO_PROBE_HOOK_BYTES)

struct hodo_probe_recipe {
	uint64_t addr; /* of the window */
	struct hodo_instruction instruction[HODO_PROBE_WINDOW_INSTRUCTIONS];
	uint8_t from[HODO_PROBE_WINDOW_INSTRUCTIONS]; /* their offsets in the window */
	uint16_t at[HODO_PROBE_WINDOW_INSTRUCTIONS];  /* offsets in the slot, hooks first: a trap goes on there */
	uint8_t n, len, hooks;
	bool back; /* it jumps back */
	uint16_t hook_bytes; /* each */
	uint16_t bytes;      /* of the slot */
	uint64_t low, high;  /* every byte of the slot must be within 2 GiB of both */
	uint8_t code[HODO_PROBE_WINDOW_BYTES];
};

/*
 * Writes a hook for the instruction, at most `bytes`, to run at the address: returns its size; the rest is
 * filled with nop. It must preserve all registers and flags, and the 128 bytes below the stack pointer.
 */
typedef size_t (*hodo_probe_hook_fn)(void *arg, unsigned instruction, uint64_t address, uint8_t *to, size_t bytes);

/*
 * The recipe for a window, not of the kind HODO_PROBE_NONE, at its address in memory: its own plus the
 * object's bias. 0; -EINVAL: not a window, or the hooks are too long.
 */
int hodo_probe_recipe_make(struct hodo_probe_recipe *r, const struct hodo_probe_window *w, uint64_t bias,
			   uint16_t hook_bytes);
/* Writes r->bytes. 0; -ERANGE: the slot is too far from what it must reach. hook: NULL: nop instead. */
int hodo_probe_recipe_emit(const struct hodo_probe_recipe *r, uint64_t slot, uint8_t *to, hodo_probe_hook_fn hook,
			   void *arg);
/* The five bytes over the window of a jump: E9 and the distance to the slot. 0; -ERANGE. */
int hodo_probe_recipe_jump(const struct hodo_probe_recipe *r, uint64_t slot, uint8_t to[HODO_PROBE_JUMP_BYTES]);
