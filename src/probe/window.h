/* SPDX-License-Identifier: MIT */
/*
 * window.h - what a probe replaces: whole instructions, over the first five bytes of which a jump is written, E9 and a
 * distance of 32 bits, or one instruction, over the first byte of which a breakpoint is.
 *
 * A thread may stand between the instructions of a window while it is written, or come there by a jump that no
 * analysis saw. So each byte of the jump on which an instruction began must itself be an instruction that traps, and
 * the thread goes on in the copy of the instruction that was there.
 */
#ifndef HODO_PROBE_WINDOW_H
#define HODO_PROBE_WINDOW_H

#include "object.h"

#define HODO_PROBE_JUMP_BYTES         5u
#define HODO_PROBE_WINDOW_BYTES       20u /* the last of them may begin at 4 and have 15 */
#define HODO_PROBE_WINDOW_INSTRUCTIONS 6u

enum hodo_probe_kind {
	HODO_PROBE_NONE, /* there can be no probe */
	HODO_PROBE_TRAP, /* by a breakpoint, which costs a signal each time */
	HODO_PROBE_JUMP
};

struct hodo_probe_window {
	uint64_t addr;      /* of its first byte, which is that of an instruction */
	uint8_t kind;       /* enum hodo_probe_kind */
	uint8_t reason;     /* why it is not by a jump, or not at all; else HODO_PROBE_FINE */
	uint8_t len, n;     /* bytes and instructions */
	uint8_t at[HODO_PROBE_WINDOW_INSTRUCTIONS]; /* where they begin */
	uint8_t boundaries; /* bit k: byte k of the jump, 1 to 4, must be one that traps */
	uint8_t entered;    /* … known jumps lead there */
	uint8_t hooks;      /* bit k: a probe is called in front of instruction k */
	uint8_t bytes[HODO_PROBE_WINDOW_BYTES]; /* as they are in the file */
};

/* At the entry of a function, behind its endbr64. A part's has none: HODO_PROBE_NO_INSTRUCTION. */
void hodo_probe_window_entry(const struct hodo_probe_object *o, const struct hodo_probe_function *f,
			     struct hodo_probe_window *w);
/* At an exit: it may begin before it, and reaches to it. */
void hodo_probe_window_exit(const struct hodo_probe_object *o, const struct hodo_probe_exit *x,
			    struct hodo_probe_window *w);
/* At any instruction of a function. */
void hodo_probe_window_at(const struct hodo_probe_object *o, uint64_t addr, struct hodo_probe_window *w);

/* Calls a probe in front of the instruction at the address as well. False: none of the window's begins there. */
bool hodo_probe_window_hook(struct hodo_probe_window *w, uint64_t addr);

/*
 * Keeps the window's bytes for it, or gives them back: what overlaps a window that is kept is refused. One that is kept
 * must be of this kind still: of two that were planned before one of them was kept, the other is planned again.
 */
void hodo_probe_window_keep(const struct hodo_probe_object *o, const struct hodo_probe_window *w);
void hodo_probe_window_drop(const struct hodo_probe_object *o, const struct hodo_probe_window *w);

/* Compares it with the bytes of a process at its address: HODO_PROBE_FINE, _BREAKPOINT, _CHANGED. */
enum hodo_probe_reason hodo_probe_window_compare(const struct hodo_probe_window *w, const uint8_t *now);

#endif
