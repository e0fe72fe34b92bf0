/* SPDX-License-Identifier: MIT */
/*
 * give_back.h - returns packets to their writers, with or without their pages, and wakes writers that wait for
 * one.
 *
 * A ring cycles through all of its packets however few are in use at a time. So that it only takes as much
 * memory as the recorder's lag needs, packets of a quiet ring are returned without their pages. The next
 * writer gets new, zeroed ones, for about two microseconds each: too much for a busy ring, which keeps its
 * pages.
 *
 * Pages are removed before `consumed` returns the packet. Afterwards it belongs to the writers.
 */
#pragma once

#include <stdbool.h>

#include <hodo/abi.h>

struct hodo_ring_reader;

/* For all rings, before each poll. */
struct hodo_give_back_round {
	int64_t now_ns;
	uint64_t zero_bytes; /* left to zero in this round */
};

struct hodo_ring_pages {
	struct hodo_give_back_round *round; /* NULL: pages are neither removed nor zeroed */
	int64_t since_ns;      /* when the present second began */
	uint64_t taken;        /* packets read in it */
	bool quiet;            /* there were few in the previous one */
	uint64_t zeroed;       /* in the ring's first lap, packets 0 .. zeroed-1 need not be zeroed */
};

/* Returns the packets before r->next to the writers; wakes waiting ones when there is plenty of room. */
void hodo_ring_give_back(struct hodo_ring_reader *r, uint64_t current);

/* Wakes writers that wait for room, if any (user/ring/wait.c explains the order). */
void hodo_ring_wake(struct hodo_ring *ring);

/* In the first lap of a busy ring: zeroes the next packets, so that the writers need not. */
void hodo_ring_zero_ahead(struct hodo_ring_reader *r, uint64_t current, uint64_t used);
