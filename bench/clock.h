/* SPDX-License-Identifier: MIT */
/* clock.h - what "the clock" is: a loop that reads the time stamp and stores 24 bytes. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include "loop.h"
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define BENCH_SLOTS 4096 /* 96 KiB: a part of a ring that stays in a cache, as the ring's own next lines do */

struct bench_slot {
	uint64_t stamp, i, value;
};

static inline uint64_t bench_stamp(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return bench_now_ns();
#endif
}

static __attribute__((noinline, unused)) void bench_clock_loop(struct bench_slot *slots, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		struct bench_slot *slot = &slots[i % BENCH_SLOTS];

		slot->stamp = bench_stamp();
		slot->i = i;
		slot->value = i * 7;
		__asm__ volatile("" : : : "memory"); /* keeps each of these stores */
	}
}

#endif
