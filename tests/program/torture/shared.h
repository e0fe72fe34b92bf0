/* SPDX-License-Identifier: MIT */
/* shared.h - what the tortured program tells its checker, in a mapped file: how far each stream of events has come. */
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
	uint64_t begun[STREAMS]; /* events that were begun */
};

/* The time, by both clocks that a recording may have: what is recorded from now on is not earlier. */
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

/* An event's number determines the bytes of its filler, so that a torn event shows. */
static inline unsigned filler_len(uint64_t seq) { return seq % 7 == 0 ? (unsigned)(seq % 61) : 0; }
static inline uint8_t filler_byte(uint64_t seq, unsigned i) { return (uint8_t)(seq * 31 + i); }

#endif
