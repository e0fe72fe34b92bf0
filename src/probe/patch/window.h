/* SPDX-License-Identifier: MIT */
/*
 * window.h - what a probe replaces: whole instructions, whose first five bytes become a jump, E9 and a 32-bit
 * distance, or one instruction, whose first byte becomes a breakpoint.
 *
 * A thread may be between the instructions of a window while it is written, or arrive there by a jump that
 * the analysis missed. So each byte of the jump where an instruction began must itself trap, and the thread
 * continues in the copy of the original instruction.
 */
#pragma once

#include <probe/code/object.h>

#define HODO_PROBE_JUMP_BYTES         5u
#define HODO_PROBE_WINDOW_BYTES       20u /* the last instruction may begin at 4 and have 15 */
#define HODO_PROBE_WINDOW_INSTRUCTIONS 6u

enum hodo_probe_kind {
	HODO_PROBE_NONE, /* no probe possible */
	HODO_PROBE_TRAP, /* by a breakpoint, which costs a signal each time */
	HODO_PROBE_JUMP
};

struct hodo_probe_window {
	uint64_t addr;      /* of its first byte, which begins an instruction */
	uint8_t kind;       /* enum hodo_probe_kind */
	uint8_t reason;     /* why not by a jump, or not at all; else HODO_PROBE_FINE */
	uint8_t len, n;     /* bytes and instructions */
	uint8_t at[HODO_PROBE_WINDOW_INSTRUCTIONS]; /* where they begin */
	uint8_t boundaries; /* bit k: byte k of the jump, 1 to 4, must trap */
	uint8_t entered;    /* bit k: known jumps lead to byte k of the jump */
	uint8_t hooks;      /* bit k: a probe is called before instruction k */
	uint8_t bytes[HODO_PROBE_WINDOW_BYTES]; /* as they are in the file */
};

/* At the entry of a function, after its endbr64. A part has none: HODO_PROBE_NO_INSTRUCTION. */
void hodo_probe_window_entry(const struct hodo_probe_object *o, const struct hodo_probe_function *f,
			     struct hodo_probe_window *w);
/* At an exit: may begin before it, and extends to it. */
void hodo_probe_window_exit(const struct hodo_probe_object *o, const struct hodo_probe_exit *x,
			    struct hodo_probe_window *w);
/* At any instruction of a function. */
void hodo_probe_window_at(const struct hodo_probe_object *o, uint64_t addr, struct hodo_probe_window *w);

/* Also calls a probe before the instruction at the address. False: no instruction of the window begins there. */
bool hodo_probe_window_hook(struct hodo_probe_window *w, uint64_t addr);

/*
 * Reserves the window's bytes, or releases them: overlaps with a reserved window are refused. The window must
 * still be possible: if another one has been reserved since it was planned, plan it again.
 */
void hodo_probe_window_keep(const struct hodo_probe_object *o, const struct hodo_probe_window *w);
void hodo_probe_window_drop(const struct hodo_probe_object *o, const struct hodo_probe_window *w);

/* Compares it with a process's bytes at its address: HODO_PROBE_FINE, _BREAKPOINT, _CHANGED. */
enum hodo_probe_reason hodo_probe_window_compare(const struct hodo_probe_window *w, const uint8_t *now);
