/* SPDX-License-Identifier: MIT */
/* shared.h - what the tortured program shows its checker, in a mapped file: how far each stream of events came. */
#ifndef TESTS_TORTURE_SHARED_H
#define TESTS_TORTURE_SHARED_H

#include <stdint.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define STREAMS 64
#define HANDLER 32 /* stream of thread i's signal handler: HANDLER + i */

struct shared {
	uint64_t done[STREAMS];  /* events of the stream whose macro has returned */
	uint64_t begun[STREAMS]; /* that were begun */
};

/* What the time is, by both clocks that a recording may have: what is recorded now is not earlier. */
static inline void read_clocks(uint64_t *ticks, uint64_t *ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	*ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
#ifdef __x86_64__
	*ticks = __rdtsc();
#else
	*ticks = *ns;
#endif
}

/* The bytes of an event's filler follow from its number, so that a torn one shows. */
static inline unsigned filler_len(uint64_t seq) { return seq % 7 == 0 ? (unsigned)(seq % 61) : 0; }
static inline uint8_t filler_byte(uint64_t seq, unsigned i) { return (uint8_t)(seq * 31 + i); }

#endif
