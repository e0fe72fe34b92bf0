/* SPDX-License-Identifier: MIT */
/*
 * object.h - an executable or library as probes see it: its code, its functions, where their instructions
 * begin and which of them end a call. All addresses are the file's; a process's are these plus the object's
 * bias.
 *
 *	code.c        the code's bytes, and their marks
 *	frames.c      functions from .eh_frame
 *	functions.c   those and the symbols', sorted, and which are refused
 *	decode.c      each function's instructions, once: boundaries, targets of jumps
 *	exits.c       where calls end; which functions are parts of others, and which exits are certain
 *	tables.c      targets of jumps through tables
 *	marks.c       what no probe may replace
 *	landings.c    functions by which calls are left
 *	open.c        all together
 *
 * Slots that a compiler left for tracing (elf/slots.h) appear as libhodo leaves them while nobody traces:
 * no-ops.
 *
 * The file is hostile. A miss of the analysis costs a trap or a probe, but never changes what the program
 * does (docs/design/probes.md). One thread at a time.
 */
#pragma once

#include <elf/slots.h>

#include "instruction.h"

#define HODO_PROBE_CODE_MAX      (1u << 30) /* bytes of an object */
#define HODO_PROBE_SEGMENTS_MAX  64u
#define HODO_PROBE_FUNCTIONS_MAX (1u << 24)
#define HODO_PROBE_EXITS_MAX     (1u << 25)

/* For each byte of code: the length of the instruction that begins there, or 0; and these. */
#define HODO_PROBE_MARK_LENGTH 0x0fu
#define HODO_PROBE_MARK_TARGET 0x10u /* a jump leads there */
#define HODO_PROBE_MARK_SITE   0x20u /* in one of our sites or slots */
#define HODO_PROBE_MARK_RSEQ   0x40u /* of a restartable sequence */
#define HODO_PROBE_MARK_TAKEN  0x80u /* a planned probe replaces it */

struct hodo_probe_segment {
	uint64_t start, end;
	uint8_t *bytes, *marks;
};

struct hodo_probe_function {
	uint64_t start, end;
	uint64_t room;         /* end of the padding up to the next function, or its end */
	uint32_t exit, nexits; /* of the object's exits */
	uint8_t reason;        /* why it is refused entirely; else HODO_PROBE_FINE */
	bool part;             /* a part that the compiler moved out of its function: it has no entry */
	bool entered;          /* it has a symbol, is called, or its address is taken */
	bool branched;         /* a conditional jump of another function leads to its start */
	bool labels;           /* addresses within it are taken: possible targets of its jumps through registers */
	bool unsure;           /* only the instructions at its entry are certain */
};

enum hodo_probe_leave {
	HODO_PROBE_RETURN,
	HODO_PROBE_TAIL,          /* a jump to another function */
	HODO_PROBE_TAIL_INDIRECT, /* one through a register, or memory that is not a table */
};

struct hodo_probe_exit {
	uint64_t addr;
	uint32_t function;
	uint32_t since; /* how many bytes before it the code that leads to it begins */
	uint8_t leave;  /* enum hodo_probe_leave */
	bool unsure;    /* nothing known leads to that code: it may be data */
};

/* A function by which calls are left. */
struct hodo_probe_landing {
	uint64_t addr;
	uint8_t landing; /* enum hodo_plan_landing */
};
#define HODO_PROBE_LANDINGS_MAX 16u

struct hodo_probe_object {
	struct hodo_probe_segment *segments;
	uint32_t nsegments;
	struct hodo_probe_function *functions; /* by address */
	uint32_t nfunctions;
	struct hodo_probe_exit *exits; /* by address */
	uint32_t nexits;
	struct hodo_elf_slot_code *slots; /* by address: what a compiler left for tracing */
	uint32_t nslots;
	uint64_t ninstructions;
	uint64_t finder; /* libc's _dl_find_object(), through which unwinders find descriptions; 0: not here */
	struct hodo_probe_landing landings[HODO_PROBE_LANDINGS_MAX];
	uint32_t nlandings;
	/* Set by the planner: */
	bool enter_windows; /* known jumps may lead into the replaced instructions: a trap each time */
	bool no_jumps;      /* use only traps: for example, for a window that turned out to be entered often */
	bool shadow_stacks; /* the process has them: no call is moved */
};

/*
 * Reads and decodes an object. 0; -EOPNOTSUPP: refused entirely, *why; -EBADMSG: damaged; -EFBIG; -ENOMEM;
 * -EIO. After an error it is closed.
 */
int hodo_probe_object_open(struct hodo_probe_object *o, const struct hodo_elf *e, enum hodo_probe_reason *why);
void hodo_probe_object_close(struct hodo_probe_object *o);

/*
 * The same in steps: code, then functions in any order, then hodo_probe_object_decode(). 0, -EFBIG or
 * -ENOMEM.
 */
int hodo_probe_object_add_code(struct hodo_probe_object *o, uint64_t address, const uint8_t *bytes, size_t len);
int hodo_probe_object_add(struct hodo_probe_object *o, const struct hodo_probe_function *f);
/* e: to read tables; NULL: reads none. */
int hodo_probe_object_decode(struct hodo_probe_object *o, const struct hodo_elf *e);

/* The segment that has the address; NULL: none. */
const struct hodo_probe_segment *hodo_probe_segment_at(const struct hodo_probe_object *o, uint64_t address);
/* The function that covers it; NULL: none. */
const struct hodo_probe_function *hodo_probe_function_at(const struct hodo_probe_object *o, uint64_t address);
/* The slots of the function: none, slots that windows can replace, or one that cannot be turned off. */
enum hodo_probe_slots { HODO_PROBE_SLOTS_NONE, HODO_PROBE_SLOTS_SWITCHED, HODO_PROBE_SLOTS_FIXED };
enum hodo_probe_slots hodo_probe_function_slots(const struct hodo_probe_object *o,
						const struct hodo_probe_function *f);
/* Where the slot at the function's entry, preceded at most by endbr64, ends. 0: none. */
uint64_t hodo_probe_entry_slot_end(const struct hodo_probe_object *o, uint64_t start);
/* Whether a slot begins there, or the address is within one. */
bool hodo_probe_is_slot(const struct hodo_probe_object *o, uint64_t addr);
/* From now on windows may be where the function's slots are. */
void hodo_probe_function_take_slots(const struct hodo_probe_object *o, const struct hodo_probe_function *f);
/* Sets bits of the bytes from start to end, those that are code. */
void hodo_probe_mark(const struct hodo_probe_object *o, uint64_t start, uint64_t end, uint8_t marks);
