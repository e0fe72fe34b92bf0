/* SPDX-License-Identifier: MIT */
/*
 * ring_size_hint.h - the ring size that would have kept the events that found the ring full, or were overwritten.
 *
 * Events are lost in bursts: from the first that finds no room until the recorder has caught up. A ring
 * larger by the longest burst has room for all of them. The size of an event is estimated from those in
 * packets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HODO_RING_SIZE_HINT_MAX (1ull << 60) /* bytes: this means so many or more */

struct hodo_ring_size_hint {
	uint64_t packets, events; /* closed packets seen, and what they held */
	uint64_t lost;            /* seen so far */
	uint64_t burst, longest;  /* events */
};

/* Counts the events of a closed packet. */
static inline void hodo_ring_size_hint_packet(struct hodo_ring_size_hint *s, uint32_t events)
{
	s->packets++;
	s->events += events;
}

/* At each poll of the ring: how many events were lost so far. caught_up: it was less than half full. */
void hodo_ring_size_hint_look(struct hodo_ring_size_hint *s, uint64_t lost, bool caught_up);

/* The least power of two, in bytes; 0: nothing was lost, or no packet was seen. */
uint64_t hodo_ring_size_hint_bytes(const struct hodo_ring_size_hint *s, uint64_t ring_size, uint32_t packet_size);
