/* SPDX-License-Identifier: MIT */
/*
 * twin.h - the assembly writer's routines again in C, step by step as its
 * pseudocode says (src/arch/x86_64/writer.S), for a caller that is alone on
 * the ring: the tests hold the two against each other byte for byte, and
 * ThreadSanitizer sees the twin's accesses where it cannot see the assembly's.
 */
#ifndef HODO_ARCH_TWIN_H
#define HODO_ARCH_TWIN_H

#include <core/ring.h>

/* As enum hodo_try of the user part. */
enum hodo_twin { HODO_TWIN_DONE = 0, HODO_TWIN_SLOW = 1, HODO_TWIN_CHANGED = 2 };

/* Writes one event if the on word is `on` and there is room; now: the time stamp, ticks. */
enum hodo_twin hodo_twin_try(const struct hodo_view *view, const struct hodo_state *state, uint32_t tid, uint64_t now,
			     const struct hodo_piece *pieces, size_t count, size_t total, uint32_t on);

/* 1 if the ring is full for an event of total bytes, which is counted lost then; else 0. */
int hodo_twin_full(const struct hodo_view *view, size_t total);

/* Carries a plan out if the ring is still as it was planned for: 0, else -1. */
int hodo_twin_switch(const struct hodo_switch *plan);

#endif
