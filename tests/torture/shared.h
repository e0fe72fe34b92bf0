/* SPDX-License-Identifier: MIT */
/* shared.h - what the tortured program shows its checker, in a mapped file: how far each stream of events came. */
#ifndef TESTS_TORTURE_SHARED_H
#define TESTS_TORTURE_SHARED_H

#include <stdint.h>

#define STREAMS 64
#define HANDLER 32 /* stream of thread i's signal handler: HANDLER + i */

struct shared {
	uint64_t done[STREAMS];  /* events of the stream whose macro has returned */
	uint64_t begun[STREAMS]; /* that were begun */
};

/* The bytes of an event's filler follow from its number, so that a torn one shows. */
static inline unsigned filler_len(uint64_t seq) { return seq % 7 == 0 ? (unsigned)(seq % 61) : 0; }
static inline uint8_t filler_byte(uint64_t seq, unsigned i) { return (uint8_t)(seq * 31 + i); }

#endif
