/* SPDX-License-Identifier: MIT */
/* bench.h - a ring in memory, for the tests of its writers. */
#ifndef TESTS_RING_BENCH_H
#define TESTS_RING_BENCH_H

#include <stdlib.h>
#include <string.h>
#include <lib/unit.h>
#include <arch/generic/twin.h>

#define PACKET 4096u
#define RING (4u * PACKET)
#define HEAD sizeof(struct hodo_packet)
#define UNTOUCHED 0xee

struct bench {
	struct hodo_ring ring;
	uint8_t *data;
	struct hodo_view view;
	struct hodo_ring_config config;
};

static inline void bench_init(struct bench *b, uint32_t mode)
{
	memset(b, 0, sizeof(*b));
	b->data = aligned_alloc(4096, RING);
	memset(b->data, UNTOUCHED, RING);
	memset(b->data, 0, HEAD);
	b->config = (struct hodo_ring_config){ .packet_size = PACKET, .mode = mode, .ring_size = RING };
	b->view = (struct hodo_view){ &b->ring, b->data, RING - 1, PACKET, 0, mode == HODO_MODE_DISCARD ? 4 : 0,
				      { 0 } };
	assert_int_equal(hodo_ring_activate(&b->config, &b->ring, b->data, 3, 1000), 0);
	assert_int_equal(hodo_ring_activate(&b->config, &b->ring, b->data, 3, 2000), -1);
}

static inline uint64_t bench_position(const struct bench *b) { return hodo_word_position(b->ring.word); }

/* The first packet is open, and this many bytes of it are used. */
static inline void bench_used(struct bench *b, uint64_t bytes)
{
	b->ring.word = bytes << HODO_WORD_COUNT_BITS;
}

static inline uint64_t bench_u64(const struct bench *b, uint64_t position)
{
	uint64_t word;

	memcpy(&word, b->data + (position & (RING - 1)), sizeof(word));
	return word;
}

/* Fills the open packet, and goes to the next one; the plan for that must say what is expected. */
static inline void bench_fill(struct bench *b, int expect)
{
	struct hodo_piece piece = { "12345678", 8 };
	struct hodo_switch plan;

	while (hodo_ring_has_room(b->ring.word, PACKET, 8))
		hodo_ring_write_locked(&b->view, 5, 6, 7, &piece, 1, 8);
	assert_int_equal(hodo_ring_plan(&b->config, &b->view, 3, b->ring.word, &plan), expect);
	plan.now = 5000;
	if (expect == HODO_RING_PLANNED)
		assert_int_equal(hodo_twin_switch(&plan), 0);
}

#endif
