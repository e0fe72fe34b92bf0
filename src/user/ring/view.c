/* SPDX-License-Identifier: MIT */
/* view.c - views: what a writer needs to know of a ring, one for each ring and process. With signals blocked. */
#include <user/libc/sys.h>
#include <user/flight/flight.h>
#include "rings.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint8_t *ring_data(uint32_t ring)
{
	return hodo_recording.shm + hodo_recording.layout.data + ring * hodo_recording.layout.ring_size;
}

static void populate(void *start, uint64_t len)
{
	/* First touches cost about 30 ns an event; one call for each packet costs a third of that. May fail. */
	hodo_sys3(SYS_madvise, start, len, MADV_POPULATE_WRITE);
}

/* Signals are blocked: a handler that found the ring half made could only use the fallback ring, and if it
 * left by longjmp, the ring would stay half made. */
bool hodo_view_setup(uint32_t cpu)
{
	struct hodo_view *v = hodo_view_of(cpu);
	struct hodo_ring *ring = hodo_ring_of(cpu);

	if (hodo_load_acquire(&ring->activation) != 2) {
		populate(ring_data(cpu), hodo_recording.ring.packet_size < 65536 ?
						  hodo_recording.ring.packet_size : 65536);
		hodo_ring_activate(&hodo_recording.ring, ring, ring_data(cpu),
				   cpu == hodo_fallback_number() ? HODO_CPU_ANY : cpu, hodo_clock_now());
		if (hodo_load_acquire(&ring->activation) != 2)
			return false;
	}
	v->ring = ring;
	v->data = ring_data(cpu);
	v->mask = hodo_recording.layout.ring_size - 1;
	/* A writer that waits has nothing to count. */
	v->capacity = hodo_recording.ring.mode == HODO_MODE_DISCARD && !hodo_load(&hodo_recording.waits) ?
			      hodo_recording.layout.ring_size / hodo_recording.layout.packet_size : 0;
	hodo_store_release(&v->packet_size, hodo_recording.layout.packet_size);
	return true;
}

void hodo_view_populate_ahead(struct hodo_view *v, uint64_t seq)
{
	uint64_t packets = hodo_recording.layout.ring_size / hodo_recording.layout.packet_size;
	uint64_t n = hodo_load(&v->populated);

	n = n ? n : seq; /* the first packet is full by now */
	hodo_flight_clocks();
	while (n < packets && n <= seq + 1) {
		populate(v->data + n * v->packet_size, v->packet_size);
		hodo_store(&v->populated, ++n);
	}
}

bool hodo_view_too_old(const struct hodo_view *v, uint64_t word)
{
	return hodo_clock_now() - hodo_ring_packet(v, hodo_word_position(word))->timestamp_begin >=
	       hodo_recording.config.packet_age_ticks;
}
