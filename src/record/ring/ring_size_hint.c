/* SPDX-License-Identifier: MIT */
#include "ring_size_hint.h"

void hodo_ring_size_hint_look(struct hodo_ring_size_hint *s, uint64_t lost, bool caught_up)
{
	/* Shared memory may contain anything: a decreasing count is not a burst. */
	uint64_t more = lost > s->lost ? lost - s->lost : 0;

	s->lost = lost;
	if (more == 0 && caught_up)
		s->burst = 0;
	s->burst += more < HODO_RING_SIZE_HINT_MAX - s->burst ? more : HODO_RING_SIZE_HINT_MAX - s->burst;
	if (s->burst > s->longest)
		s->longest = s->burst;
}

uint64_t hodo_ring_size_hint_bytes(const struct hodo_ring_size_hint *s, uint64_t ring_size, uint32_t packet_size)
{
	uint64_t held = s->packets ? s->events / s->packets : 0, packets, room = ring_size;

	if (s->longest == 0 || s->packets == 0)
		return 0;
	packets = s->longest / (held ? held : 1) + 1;
	/* A packet is returned as a whole, and a larger ring has larger packets: by default a 16th. */
	do
		room *= 2;
	while (room < HODO_RING_SIZE_HINT_MAX && (room - room / 16 - ring_size) / packet_size < packets);
	return room;
}
