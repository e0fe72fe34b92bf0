/* SPDX-License-Identifier: MIT */
/*
 * space.h - packets go back to their writers: with their pages or without; and who waits for one is woken.
 *
 * A ring goes round through all of its packets however few are in use at a time. So that its memory is what the
 * recorder's lag needs, and not its size, packets of a ring that is quiet go back without their pages. The next writer
 * has new ones, zeroed, for about two microseconds each: too much for a ring that is busy, which keeps its own.
 *
 * Pages are taken away before `consumed` gives the packet back. Afterwards it is the writers'.
 */
#ifndef HODO_RECORD_SPACE_H
#define HODO_RECORD_SPACE_H

#include <stdbool.h>

#include <hodo/abi.h>

struct hodo_ring_reader;

/* Of all rings, before each look at them. */
struct hodo_space_round {
	int64_t now_ns;
	uint64_t zero_bytes; /* that may be zeroed in it */
};

struct hodo_ring_pages {
	struct hodo_space_round *round; /* NULL: pages are neither taken away nor zeroed */
	int64_t since_ns;      /* when the present second began */
	uint64_t taken;        /* packets read in it */
	bool quiet;            /* in the one before they were few */
	uint64_t zeroed;       /* of the ring's first round, packets 0 .. zeroed-1 need not be zeroed */
};

/* Lets the writers have the packets before r->next again; who waits for them is woken when there is room for long. */
void hodo_ring_give_back(struct hodo_ring_reader *r, uint64_t current);

/* Wakes who waits for room (user/wait.c, which says why in this order). It is looked whether there is any. */
void hodo_ring_wake(struct hodo_ring *ring);

/* In the first round of a ring that is busy: zeroes the packets that come next, so that the writers need not. */
void hodo_ring_zero_ahead(struct hodo_ring_reader *r, uint64_t current, uint64_t used);

#endif
