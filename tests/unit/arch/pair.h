/* SPDX-License-Identifier: MIT */
/*
 * pair.h - the assembly writer against its C twin, byte for byte: records, anchors and what the ring knows of them. The
 * assembly reads the clock and the stack pointer itself: the twin gets the values that the assembly wrote, and they
 * are checked separately.
 *
 * A sequence may be interrupted at any time; what it left undone then is undone in the twin's ring, too, and counted.
 */
#ifndef TESTS_RING_PAIR_H
#define TESTS_RING_PAIR_H

#include "bench.h"

extern struct bench a, t; /* the assembly's, the twin's */
extern unsigned done, interrupted;
extern uint32_t on; /* the on word of all events */

uint64_t random_next(void);
struct hodo_view *views_of(struct bench *b); /* of every CPU on one ring: whichever this thread is on */
void views_drop(void);

/* For each test of a pair. */
int pair_begin(void **state);
int pair_end(void **state);

/* Before an attempt to write. */
struct attempt {
	uint64_t position, ticks;
};
struct attempt attempt(void);
uint64_t written(const struct attempt *before);
struct hodo_twin_by by_now(const struct attempt *before); /* whose record the assembly wrote, and when, or would now */
void same(const struct attempt *before);                  /* both have written */
void nothing(const struct attempt *before, enum hodo_twin twin); /* the assembly has not; what the twin did is undone */

void switch_both(void); /* to the next packet */
void something_happens(void); /* another thread's turn; time passes; a packet is full */
/* Leaves so much room; anchored: the ring knows an anchor of this thread and moment. */
void leave(uint64_t bytes, bool anchored);
void within(void); /* nothing was written into the next packet */

#endif
