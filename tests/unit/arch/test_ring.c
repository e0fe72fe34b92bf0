/* SPDX-License-Identifier: MIT */
/* test_ring.c - rooms, packets and switches; records and anchors of the writer in C. The kernel runs it, too. */
#include "bench.h"

#define EPOCH (1ull << HODO_EPOCH_SHIFT)

TEST(test_activate)
{
	struct bench b;
	struct hodo_packet *p;

	bench_init(&b, HODO_MODE_DISCARD);
	p = (struct hodo_packet *)b.data;
	assert_int_equal(hodo_word_position(b.ring.word), sizeof(*p));
	assert_int_equal(hodo_word_events(b.ring.word), 0);
	assert_int_equal(b.ring.anchor, 0);
	assert_int_equal(p->magic, HODO_CTF_MAGIC);
	assert_int_equal(p->timestamp_begin, 1000);
	assert_int_equal(p->cpu_id, 3);
	assert_int_equal(p->packet_size, PACKET * 8);
	free(b.data);
}

/* Fills a packet to its last byte that may be used; the next event must not fit. */
TEST(test_room)
{
	for (unsigned len = 0; len < 64; len++) {
		uint8_t bytes[64] = { 0 };
		struct hodo_piece piece = { bytes, len };
		struct bench b;
		unsigned n = 0;

		bench_init(&b, HODO_MODE_DISCARD);
		while (hodo_ring_has_room(b.ring.word, PACKET, len)) {
			hodo_ring_write_locked(&b.view, 5, 6, 7, &piece, 1, len);
			n++;
		}
		assert_int_equal(hodo_word_events(b.ring.word), n);
		assert_int_equal(bench_position(&b), HEAD + 16 + n * (len + 6ul));
		assert_true(bench_position(&b) < PACKET);
		assert_true(bench_position(&b) + 16 + len + 6 + 8 > PACKET);
		assert_int_equal(b.data[PACKET], UNTOUCHED);
		free(b.data);
	}
	assert_true(hodo_ring_fits(PACKET, PACKET - HEAD - 30));
	assert_false(hodo_ring_fits(PACKET, PACKET - HEAD - 29));
	assert_false(hodo_ring_fits(PACKET, SIZE_MAX / 2));
	assert_false(hodo_ring_fits(PACKET, SIZE_MAX));
}

/* Room for an event and its anchor is required, whether it needs one or not; without it, nothing is written. */
TEST(test_last_bytes)
{
	struct hodo_piece piece = { "12345678", 8 };
	struct bench b;
	uint64_t word;

	bench_init(&b, HODO_MODE_OVERWRITE);
	bench_used(&b, PACKET - 16 - 14 - 8);
	hodo_ring_write_locked(&b.view, 5, 6, 7, &piece, 1, 8);
	assert_int_equal(bench_position(&b), PACKET - 8);
	assert_int_equal(b.data[PACKET - 8], UNTOUCHED);
	bench_used(&b, PACKET - 16 - 14 - 7);
	word = b.ring.word;
	assert_false(hodo_ring_has_room(word, PACKET, 8));
	hodo_ring_write_locked(&b.view, 5, 6, 7, &piece, 1, 8);
	assert_int_equal(b.ring.word, word);
	free(b.data);
}

/* Writes an event of 8 bytes, which must come after an anchor or not; checks both. */
static void write_event(struct bench *b, uint32_t tid, uint64_t now, bool anchored)
{
	struct hodo_piece piece = { "12345678", 8 };
	uint64_t at = bench_position(b), here = (uintptr_t)__builtin_frame_address(0);
	uint32_t n = hodo_word_events(b->ring.word);

	hodo_ring_write_locked(&b->view, 5, tid, now, &piece, 1, 8);
	assert_int_equal(bench_position(b) - at, anchored ? 30 : 14);
	assert_int_equal(hodo_word_events(b->ring.word), n + 1);
	if (now < b->ring.latest)
		now = b->ring.latest;
	assert_int_equal(b->ring.latest, now);
	if (anchored) {
		uint64_t window = bench_u64(b, at + 8) >> 24 << 8;

		assert_int_equal(bench_u64(b, at), now | 3);
		assert_int_equal(bench_u64(b, at + 8) & 0xffffff, tid & 0xffffff);
		/* An anchor has 48 bits of it: in the kernel, where this test runs too, addresses have more. */
		assert_true(((here - window) & 0xffffffffffff) < HODO_WINDOW);
		assert_int_equal(b->ring.window & 0xffffffffffff, window + 8);
		at += 16;
	}
	assert_int_equal(b->ring.anchor, (uint64_t)tid << 32 | now / EPOCH);
	assert_int_equal(bench_u64(b, at) & 0xffffffffffff, 5ull << 32 | (now & (EPOCH - 4)) | 2);
	assert_memory_equal(b->data + (at & (RING - 1)) + 6, "12345678", 8);
}

/* The first event of a packet, of a thread after another's, and of an epoch has an anchor; no other has. */
TEST(test_anchors)
{
	uint64_t now = 12345 * EPOCH + 100;
	struct bench b;

	bench_init(&b, HODO_MODE_OVERWRITE);
	write_event(&b, 6, now, true);
	write_event(&b, 6, now + 1, false);
	write_event(&b, 6, now + EPOCH - 101, false);
	write_event(&b, 6, now + EPOCH - 100, true);
	write_event(&b, 6, now + EPOCH, false);
	write_event(&b, 7, now + EPOCH, true);
	write_event(&b, 6, now + EPOCH, true);
	write_event(&b, 6 + (1u << 24), now + EPOCH, true);
	bench_fill(&b, HODO_RING_PLANNED);
	assert_int_equal(b.ring.anchor, 0);
	write_event(&b, 6, now + EPOCH, true);
	write_event(&b, 6, now + EPOCH, false);
	free(b.data);
}

/* Two CPUs' clocks differ: an event slightly earlier than the one before it is not an epoch later. */
TEST(test_clock_back)
{
	uint64_t now = 12345 * EPOCH;
	struct bench b;

	bench_init(&b, HODO_MODE_OVERWRITE);
	write_event(&b, 6, now, true);
	write_event(&b, 6, now - 20, false);
	write_event(&b, 7, now - 1, true);
	write_event(&b, 7, now + 4, false);
	free(b.data);
}

/* A writer that was killed between its event's commit and the update of what the ring knows of its anchor leaves 0. */
TEST(test_killed)
{
	struct bench b;

	bench_init(&b, HODO_MODE_OVERWRITE);
	write_event(&b, 6, 100, true);
	b.ring.anchor = 0;
	write_event(&b, 6, 100, true);
	write_event(&b, 6, 100, false);
	free(b.data);
}

TEST(test_full)
{
	uint64_t per_packet = (PACKET - HEAD - 16 - 38) / 14 + 1;
	struct hodo_packet *p;
	struct bench b;

	bench_init(&b, HODO_MODE_DISCARD);
	for (int i = 0; i < 3; i++)
		bench_fill(&b, 0);
	bench_fill(&b, HODO_RING_FULL); /* four packets, none given back */
	b.ring.consumed = 1;
	b.ring.lost_full = 17;
	bench_fill(&b, 0); /* into the first slot again */
	p = (struct hodo_packet *)b.data;
	assert_int_equal(p->packet_seq_num, 4);
	assert_int_equal(p->events_before, 4 * per_packet);
	assert_int_equal(p->events_discarded, 17);
	assert_int_equal(p->events, 0);
	p = (struct hodo_packet *)(b.data + 3 * PACKET);
	assert_int_equal(p->events, per_packet);
	assert_int_equal(p->content_size, 8 * (sizeof(*p) + 16 + per_packet * 14));
	assert_int_equal(p->timestamp_end, 5000);
	free(b.data);

	bench_init(&b, HODO_MODE_OVERWRITE);
	for (int i = 0; i < 100; i++)
		bench_fill(&b, 0);
	free(b.data);
}

/* A plan that has been overtaken does nothing, even if the word has returned to the same value. */
TEST(test_stale_plan)
{
	struct hodo_piece piece = { "12345678", 8 };
	struct hodo_switch plan;
	uint64_t word, anchor;
	struct bench b;

	bench_init(&b, HODO_MODE_OVERWRITE);
	assert_int_equal(hodo_ring_plan(&b.config, &b.view, 3, b.ring.word, &plan), 0);
	hodo_ring_write_locked(&b.view, 5, 6, 7, &piece, 1, 8);
	word = b.ring.word;
	anchor = b.ring.anchor;
	assert_int_equal(hodo_twin_switch(&plan), -1);
	assert_int_equal(b.ring.word, word);
	assert_int_equal(b.ring.anchor, anchor);
	assert_int_equal(hodo_ring_plan(&b.config, &b.view, 3, word - 1, &plan), HODO_RING_MOVED);
	assert_int_equal(hodo_ring_plan(&b.config, &b.view, 3, b.ring.word, &plan), 0);
	((struct hodo_packet *)b.data)->packet_seq_num += 1ull << 40;
	assert_int_equal(hodo_twin_switch(&plan), -1);
	free(b.data);
}
