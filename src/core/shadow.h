/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * shadow.h - which calls a thread is inside of, by entries and exits.
 *
 * A frame is identified by the address of its return address (`at`). While a call lasts, no other call of the
 * process has that address, whatever stacks, coroutines and threads there are. So an exit belongs to the
 * entry with the same address, exactly. Addresses also show where a call stands among the others (depth,
 * caller), as far as they can.
 *
 * A shadow is the chain of one thread: frames in order of entry, in lanes. A
 * lane is a run of frames on one stack: addresses fall. A frame on another
 * stack (signal handler, coroutine) begins a new lane on top. Frames that an event shows to be outside of the
 * thread's present chain are
 *
 *   left    if both are on the thread's own stack (stack_low .. stack_high) and it
 *           lies below: longjmp, an exception or the like went past it; closed at once. Once that
 *           has been wrong, there is another stack inside that one, and no frame is left any more
 *   parked  else: it may have been left, or be of a coroutine that waits. It goes to
 *           the table of parked frames, which all threads share, until its exit
 *           comes (from any thread), or an entry at the same address proves that it was left.
 *
 * A coroutine may continue in another thread while its frames are still in the chain of its former thread. So
 * an exit that finds no frame is kept in the table, too; a thread that then gives up an older frame with that
 * address takes it as returned.
 *
 * Who may run beside whom: a shadow belongs to its thread; the caller ensures that no function here is
 * entered again for the same shadow or table while one runs. The table of parked frames may be shared: then
 * the caller supplies lock and unlock.
 */
#pragma once

#include <hodo/abi.h>
#include <stdbool.h>

struct hodo_frame {
	uint64_t at;       /* address of the return address; if sp: any address in the frame, at entry */
	uint64_t function; /* as given at entry */
	uint64_t entry;    /* ticks */
	uint64_t children; /* ticks in traced functions that it called */
	uint64_t user;     /* the caller's */
	uint64_t parked;   /* when it was parked, in ticks */
	uint32_t depth;    /* frames that it is inside of */
	uint32_t lane;     /* index of the first frame of its lane; parked: 1 by an event in its lane: it was left,
			    * as far as addresses show */
	uint32_t thread;   /* hodo_shadow.thread at entry */
	uint32_t sp;       /* 1: at is only known to lie inside the frame */
};
HODO_ASSERT_SIZE_(struct hodo_frame, 64);

enum hodo_frame_end {
	HODO_FRAME_RETURNED, /* its exit came */
	HODO_FRAME_LEFT      /* it was left, at the time given or earlier */
};

/* Parked frames by address: open addressing, 2^n slots; a slot with at == 0 is free. */
struct hodo_parked {
	struct hodo_frame *slots;
	uint32_t mask;  /* slots - 1; the table is full at 3/4 */
	uint32_t count;
	/* NULL, or: makes the table larger (slots, mask) and moves all frames with hodo_parked_put(). false: cannot.
	 * Without, the oldest of 8 neighbours is closed as left. */
	bool (*grow)(struct hodo_parked *parked);
	/* NULL, or: for a shared table. lock: false if it is not available; the frame is then closed as left,
	 * or not found. */
	bool (*lock)(struct hodo_parked *parked);
	void (*unlock)(struct hodo_parked *parked);
};

struct hodo_shadow {
	struct hodo_frame *frames; /* room for max */
	uint32_t n;                /* in use */
	uint32_t max;
	uint32_t thread;           /* any number, for the frames */
	uint64_t stack_low, stack_high; /* the thread's own stack; 0, 0: not known */
	uint64_t own_high;         /* highest address on it at which a frame was entered; see shadow.c */
	uint64_t doubt;            /* not 0: there are other stacks inside that one */
	struct hodo_parked *parked;
	/* NULL, or: makes room for more frames (frames, max). false: cannot. */
	bool (*grow)(struct hodo_shadow *shadow);
	/* A frame is over: called once for each frame for which enter gave one, innermost first. now: ticks. */
	void (*closed)(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end,
		       uint64_t now);
	/* NULL, or: a frame is parked from now on (frame->parked). closed comes later, perhaps through another
	 * thread's shadow. */
	void (*park)(struct hodo_shadow *shadow, const struct hodo_frame *frame);
	void *arg;                 /* the caller's */
	uint64_t orphans;          /* exits without an entry: the sum over all shadows of a table counts, modulo 2^64 */
	uint64_t deep;             /* entries for which there was no room */
};

#define HODO_SHADOW_NEAR (64u << 10) /* bytes: frames of one lane on an unknown stack lie no farther apart */

/*
 * A function is entered. Returns its frame, for the caller to set `user`, or NULL if there was no room
 * (counted; its exit will be an orphan). First closes or parks the frames that the entry shows to be over.
 */
struct hodo_frame *hodo_shadow_enter(struct hodo_shadow *shadow, uint64_t at, uint64_t function, uint64_t now,
				     bool sp);

/*
 * A function exits. Closes or parks the frames inside it, then closes it. sp: `at` is the stack pointer
 * inside the frame, at exit: the innermost frame of that function at or above it is meant. same says whether
 * an exit may belong to a frame (the functions agree); NULL: always. False: an orphan.
 */
bool hodo_shadow_exit(struct hodo_shadow *shadow, uint64_t at, uint64_t function, uint64_t now, bool sp,
		      bool (*same)(struct hodo_shadow *shadow, const struct hodo_frame *frame, uint64_t function));

/* Whether a frame with exactly this address is in the chain. */
bool hodo_shadow_holds(const struct hodo_shadow *shadow, uint64_t at);
/* How far above the stack pointer of an exit the frame lies that would be matched with it; UINT64_MAX: the
 * chain has none. */
uint64_t hodo_shadow_near(struct hodo_shadow *shadow, uint64_t at, uint64_t function);
/* A frame with exactly this address is over, since another thread has entered a function there: closes it as
 * left, and parks the frames inside it. */
void hodo_shadow_gone(struct hodo_shadow *shadow, uint64_t at, uint64_t now);

/*
 * The thread continues with `at` just below its stack pointer: whatever was entered deeper on that stack is
 * over (an exception was caught, or longjmp called). Closes or parks it, as an entry at this address would,
 * but enters nothing. other_stack: the thread may have come from another stack, whose frames wait.
 */
void hodo_shadow_landed(struct hodo_shadow *shadow, uint64_t at, uint64_t now, bool other_stack);

/* Gives up all frames of the chain, closed as left at now. Parked ones stay. */
void hodo_shadow_clear(struct hodo_shadow *shadow, uint64_t now);

/* Puts a frame into the table, without growing it, replacing one with the same address. */
void hodo_parked_put(struct hodo_parked *parked, const struct hodo_frame *frame);
