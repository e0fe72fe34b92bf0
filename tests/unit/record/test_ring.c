/* SPDX-License-Identifier: MIT */
/*
 * test_ring.c - the reader of a ring against an honest writer: every event
 * read once and in order, or counted, in both modes and whatever the sizes.
 */
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <record/ring/ring_reader.h>
#include <record/write/stream.h>

#include "writer.h"

#define EVENT (RECORD_EVENT_BYTES + 8) /* an event with a number */
#define FULL 64                       /* this many fill a packet of 1 KiB, behind an anchor */
#define BODY_AT(i) (sizeof(struct hodo_packet) + RECORD_ANCHOR_BYTES + EVENT * (i))

struct fixture {
	struct hodo_layout layout;
	struct writer w;
	struct hodo_ring_reader r;
	struct hodo_ring_sink sink;
	struct hodo_read_layouts table;
	uint8_t *memory, *copy;
	uint64_t read, expect, gaps, ts_end, discarded, last_packet_events;
};

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct fixture *)arg)->table;
}

/* Each event has its number: the numbers that are left out must have been lost. */
static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct fixture *f = arg;

	struct record record = record_begin(h->timestamp_begin);
	uint64_t end = h->content_size / 8 - sizeof(*h), events = 0;

	assert_true(h->timestamp_begin >= f->ts_end);
	assert_true(h->timestamp_end >= h->timestamp_begin);
	for (uint64_t at = 0; at < end;) {
		uint64_t value;

		at += record_take(&record, body + at);
		assert_true(at == RECORD_ANCHOR_BYTES ? record.form == RECORD_ANCHOR : record.form == RECORD_EVENT);
		if (record.form == RECORD_ANCHOR)
			continue;
		assert_true(at + 8 <= end);
		assert_true(record.time <= h->timestamp_end);
		memcpy(&value, body + at, 8);
		at += 8;
		events++;
		assert_true(value >= f->expect);
		f->gaps += value - f->expect;
		f->expect = value + 1;
		f->read++;
	}
	assert_int_equal(events, h->events);
	f->ts_end = h->timestamp_end;
	assert_true(h->events_discarded >= f->discarded);
	f->discarded = h->events_discarded;
	f->last_packet_events = h->events;
	(void)r;
}

static void setup_ring(struct fixture *f, enum hodo_mode mode, uint32_t packet_size, uint32_t packets)
{
	static const uint8_t number[] = { HODO_TYPE_U64 };

	memset(f, 0, sizeof(*f));
	f->layout.packet_size = packet_size;
	f->layout.ring_size = (uint64_t)packet_size * packets;
	f->memory = aligned_alloc(64, sizeof(struct hodo_ring) + f->layout.ring_size);
	f->copy = malloc(packet_size);
	memset(f->memory, 0, sizeof(struct hodo_ring) + f->layout.ring_size);
	f->w = (struct writer){ .ring = (struct hodo_ring *)f->memory, .packets = f->memory + sizeof(struct hodo_ring),
				.ring_size = f->layout.ring_size, .packet_size = packet_size, .mode = mode, .now = 1 };
	f->sink = (struct hodo_ring_sink){ sink_packet, sink_table, f };
	assert_int_equal(hodo_read_layouts_add(&f->table, 1, number, 1), 0);
	hodo_ring_reader_init(&f->r, f->w.ring, f->w.packets, &f->layout, mode, f->copy);
}

static void free_ring(struct fixture *f)
{
	hodo_layouts_clear(&f->table);
	free(f->memory);
	free(f->copy);
}

static uint64_t lost(const struct fixture *f)
{
	const struct hodo_lost *l = &f->r.lost;

	return l->full + l->too_large + l->busy + l->overwritten + l->damaged;
}

static void finish(struct fixture *f, bool alive)
{
	hodo_ring_finish(&f->r, &f->sink, alive);
	assert_int_equal(f->read + lost(f), f->w.written);
	assert_int_equal(f->r.discarded, lost(f));
	assert_false(f->r.broken);
	assert_int_equal(f->r.damage, 0);
}

TEST(test_discard)
{
	static const uint32_t sizes[][2] = { { 1024, 4 }, { 1024, 64 }, { 4096, 8 }, { 65536, 4 } };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (unsigned int every = 1; every < 3000; every = every * 3 + 1) {
			struct fixture f;

			setup_ring(&f, HODO_MODE_DISCARD, sizes[s][0], sizes[s][1]);
			for (uint64_t i = 0; i < 20000; i++) {
				writer_event(&f.w, i);
				if (i % every == 0)
					hodo_ring_poll(&f.r, &f.sink);
			}
			finish(&f, s % 2);
			assert_int_equal(f.r.lost.full, lost(&f));
			assert_int_equal(f.gaps + (20000 - f.expect), lost(&f));
			if (every == 1)
				assert_int_equal(lost(&f), 0);
			free_ring(&f);
		}
	}
}

/* Two bursts, after each of which the reader catches up. between: how often it also polls in a burst, 0: never. */
static uint64_t bursts(struct fixture *f, uint32_t packet_size, uint32_t packets, uint32_t between)
{
	uint64_t room;

	setup_ring(f, HODO_MODE_DISCARD, packet_size, packets);
	for (uint32_t burst = 0; burst < 2; burst++) {
		for (uint32_t i = 0; i < 50000; i++) {
			writer_event(&f->w, f->w.written);
			if (between && i % between == 0) /* not often enough to catch up */
				hodo_ring_poll(&f->r, &f->sink);
		}
		for (uint32_t i = 0; i < 3; i++) {
			hodo_ring_poll(&f->r, &f->sink);
			writer_event(&f->w, f->w.written);
		}
	}
	finish(f, false);
	room = hodo_ring_size_hint_bytes(&f->r.size_hint, f->layout.ring_size, packet_size);
	free_ring(f);
	return room;
}

TEST(test_room)
{
	static const uint32_t sizes[][2] = { { 1024, 4 }, { 1024, 64 }, { 4096, 16 } };
	struct fixture f;

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		uint32_t packet_size = sizes[s][0], packets = sizes[s][1];
		uint64_t room = bursts(&f, packet_size, packets, 0);

		assert_int_equal(room & (room - 1), 0);
		assert_true(f.r.lost.full > 0 && room > f.layout.ring_size);
		assert_int_equal(bursts(&f, (uint32_t)(room / 16), 16, 0), 0);
		assert_int_equal(f.r.lost.full, 0);
		assert_int_equal(bursts(&f, packet_size, (uint32_t)(room / packet_size), 0), 0);
		assert_int_equal(f.r.lost.full, 0);
		/* Half of it is too little, or the result would have been half. */
		assert_true(bursts(&f, packet_size, (uint32_t)(room / packet_size / 4), 0) > 0);
	}
	/* One burst, since the reader never caught up: each ring of packets that it read came after a loss. */
	assert_true(bursts(&f, 1024, 4, 1000) > 50000 * 10);
	assert_true(f.r.lost.full > 50000);
	/* Numbers that cannot be true still give a size. */
	f.r.size_hint = (struct hodo_ring_size_hint){ .packets = 1, .events = 0, .longest = HODO_RING_SIZE_HINT_MAX };
	assert_int_equal(hodo_ring_size_hint_bytes(&f.r.size_hint, 4096, 1024), HODO_RING_SIZE_HINT_MAX);
}

/* The open packet is given piece by piece: nothing twice, each later piece only what is new, the losses exact. */
TEST(test_open)
{
	static const uint32_t sizes[][2] = { { 1024, 4 }, { 4096, 8 } };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (unsigned int every = 1; every < 3000; every = every * 2 + 1) {
			struct fixture f;

			setup_ring(&f, HODO_MODE_DISCARD, sizes[s][0], sizes[s][1]);
			for (uint64_t i = 0; i < 20000; i++) {
				uint64_t read = f.read;

				writer_event(&f.w, i);
				if (i % every)
					continue;
				if (i % 5 < 4)
					hodo_ring_poll(&f.r, &f.sink);
				hodo_ring_take_open(&f.r, &f.sink);
				if (i % 5 < 4)
					assert_int_equal(f.read + f.gaps, f.expect);
				if (i % 5 < 4 && !f.r.ring->lost_full)
					assert_int_equal(f.read, i + 1);
				read = f.read;
				hodo_ring_take_open(&f.r, &f.sink);
				assert_int_equal(f.read, read);
			}
			finish(&f, s % 2);
			assert_int_equal(f.r.lost.full, lost(&f));
			free_ring(&f);
		}
	}
}

/* What came out of a ring, in whichever packets. */
struct given {
	struct hodo_read_layouts table;
	struct event {
		struct record record; /* without window */
		uint64_t value;       /* of an event only */
	} event[4000];
	uint32_t n;
	uint64_t ts_end, packets, rests;
};

static const struct hodo_read_layouts *given_table(void *arg)
{
	return &((struct given *)arg)->table;
}

static void given_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct record record = record_begin(h->timestamp_begin);
	uint64_t end = h->content_size / 8 - sizeof(*h);
	struct given *g = arg;
	uint32_t before = g->n;

	assert_in_range(h->timestamp_begin, g->ts_end, h->timestamp_end);
	for (uint64_t at = 0; at < end;) {
		struct event *e = &g->event[g->n];
		bool first = at == 0;
		uint16_t len = 0;

		at += record_take(&record, body + at);
		assert_true(record.time <= h->timestamp_end);
		assert_true(!first || record.form == RECORD_ANCHOR);
		if (record.form == RECORD_ANCHOR)
			continue;
		*e = (struct event){ .record = record };
		e->record.window = 0;
		if (record.form == RECORD_EVENT) {
			e->record.function = e->record.frame = 0;
			if (record.id == 2)
				memcpy(&len, body + at, 2);
			memcpy(&e->value, body + at, record.id == 1 ? 8 : 6);
			at += record.id == 1 ? 8 : 2 + len + 4u;
		} else {
			e->record.id = 0;
		}
		g->n++;
	}
	assert_int_equal(g->n - before, h->events);
	assert_true(g->n < 4000);
	g->ts_end = h->timestamp_end;
	g->packets++;
	/* The rest of a packet begins with its first record, not with the packet's own time. */
	if (h->events && r->given.events > h->events) {
		assert_int_equal(h->timestamp_begin, g->event[before].record.time);
		g->rests++;
	}
}

/* 3,000 records of two threads and all forms, over epochs. every: how often the open packet is taken, 0: never. */
static void give_all(struct given *g, uint32_t packet_size, unsigned int every)
{
	static const uint8_t number[] = { HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR, HODO_TYPE_U32 };
	static const uint8_t call[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	struct hodo_ring_sink sink = { given_packet, given_table, g };
	struct fixture f;

	memset(g, 0, sizeof(*g));
	assert_int_equal(hodo_read_layouts_add(&g->table, 1, number, 1), 0);
	assert_int_equal(hodo_read_layouts_add(&g->table, 2, text, 2), 0);
	assert_int_equal(hodo_read_layouts_add(&g->table, WRITER_CALL, call, 2), 0);
	assert_int_equal(hodo_read_layouts_add(&g->table, WRITER_RETURN, call, 2), 0);
	assert_int_equal(hodo_read_layouts_calls(&g->table, WRITER_CALL, WRITER_RETURN), 0);
	setup_ring(&f, HODO_MODE_DISCARD, packet_size, 8);
	f.w.threads = 1;
	for (uint64_t i = 0; i < 3000; i++) {
		if (i % 41 == 40)
			f.w.now += 1ull << 29;
		if (i % 397 == 396)
			f.w.now += 3ull << 30;
		writer_any(&f.w, i);
		hodo_ring_poll(&f.r, &sink);
		if (every && i % every == every - 1)
			hodo_ring_take_open(&f.r, &sink);
	}
	hodo_ring_finish(&f.r, &sink, false);
	assert_int_equal(g->n, 3000);
	assert_int_equal(f.r.discarded, 0);
	assert_int_equal(f.r.damage, 0);
	hodo_layouts_clear(&g->table);
	free_ring(&f);
}

/* A packet that is given in pieces has the same events, of the same threads, times and frames. */
TEST(test_open_same)
{
	static struct given whole, pieces;

	for (uint32_t packet_size = 1024; packet_size <= 16384; packet_size *= 4) {
		give_all(&whole, packet_size, 0);
		assert_int_equal(whole.rests, 0);
		for (unsigned int every = 1; every < 1000; every = every * 2 + 1) {
			give_all(&pieces, packet_size, every);
			assert_memory_equal(pieces.event, whole.event, 3000 * sizeof(*whole.event));
			assert_true(pieces.packets > whole.packets);
			assert_true(pieces.rests > 0 || every > 50);
		}
	}
}

/* What was given of an open packet stays, whatever happens to the rest. */
TEST(test_open_then_damage)
{
	for (int what = 0; what < 5; what++) {
		struct hodo_packet *p;
		struct fixture f;

		setup_ring(&f, HODO_MODE_DISCARD, 1024, 16);
		for (uint64_t i = 0; i < 20; i++)
			writer_event(&f.w, i);
		p = (struct hodo_packet *)f.w.packets;
		hodo_ring_take_open(&f.r, &f.sink);
		assert_int_equal(f.read, 20);
		for (uint64_t i = 20; i < 300; i++)
			writer_event(&f.w, i);
		switch (what) {
		case 0: p->magic ^= 1; break;
		case 1: p->events = 19; break;
		case 2: p->content_size = 8 * BODY_AT(19); break;
		case 3: p->timestamp_end = f.r.ts_end - 1; break;
		case 4: memset((uint8_t *)p + BODY_AT(25) + 4, 0xff, 2); break;
		}
		hodo_ring_poll(&f.r, &f.sink);
		hodo_ring_finish(&f.r, &f.sink, false);
		assert_int_equal(f.r.damage, 1);
		assert_int_equal(f.r.lost.damaged, FULL - 20);
		assert_int_equal(f.read + lost(&f), 300);
		free_ring(&f);
	}
}

TEST(test_overwrite)
{
	for (uint64_t events = 0; events < 2000; events += 7) {
		struct fixture f;

		setup_ring(&f, HODO_MODE_OVERWRITE, 1024, 8);
		for (uint64_t i = 0; i < events; i++) {
			writer_event(&f.w, i);
			if (i % 100 == 0)
				assert_int_equal(hodo_ring_poll(&f.r, &f.sink), 0);
		}
		assert_int_equal(f.read, 0);
		finish(&f, events % 2);
		assert_int_equal(f.r.lost.overwritten, lost(&f));
		/* The newest events are there, and of 8 packets at least 6 full ones where there were as many. */
		assert_int_equal(f.expect, events);
		assert_true(f.read >= (events < 6 * FULL ? events : 6 * FULL));
		free_ring(&f);
	}
}

/* The commit word wraps around, the sequence numbers do not. */
TEST(test_wrap)
{
	struct fixture f;
	uint64_t start = ((1ull << 44) / 1024 - 5) + (3ull << 34);
	struct hodo_packet *p;

	for (int mode = 0; mode < 2; mode++) {
		setup_ring(&f, mode ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD, 1024, 8);
		writer_event(&f.w, 0);
		p = (struct hodo_packet *)(f.w.packets + (start * 1024 & (f.layout.ring_size - 1)));
		memcpy(p, f.w.packets, 1024);
		p->packet_seq_num = start;
		f.w.ring->word = ((start * 1024 + BODY_AT(1)) << 20) | 1;
		f.w.ring->consumed = start;
		f.r.next = mode ? 0 : start;
		for (uint64_t i = 1; i < 3000; i++) {
			writer_event(&f.w, i);
			hodo_ring_poll(&f.r, &f.sink);
		}
		assert_true(f.w.ring->word >> 20 < start * 1024);
		finish(&f, false);
		assert_int_equal(f.expect, 3000);
		free_ring(&f);
	}
}

/* Killed in the middle of a switch: the old header is closed, the new one overwritten, the word unchanged. */
TEST(test_killed_in_switch)
{
	struct hodo_packet *open, *next;
	struct fixture f;

	for (int mode = 0; mode < 2; mode++) {
		setup_ring(&f, mode ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD, 1024, 4);
		for (uint64_t i = 0; i < 300; i++) {
			writer_event(&f.w, i);
			if (i < 200)
				hodo_ring_poll(&f.r, &f.sink);
		}
		open = (struct hodo_packet *)(f.w.packets + ((f.w.ring->word >> 20 & ~1023ull) & (f.w.ring_size - 1)));
		open->timestamp_end = f.w.now + 1;
		open->content_size = 8 * (f.w.ring->word >> 20 & 1023);
		open->events = f.w.ring->word & 0xfffff;
		next = (struct hodo_packet *)(f.w.packets +
					      (((f.w.ring->word >> 20 & ~1023ull) + 1024) & (f.w.ring_size - 1)));
		if (mode)
			memset(next, 0x5a, 64);
		finish(&f, false);
		free_ring(&f);
	}
}

TEST(test_refused)
{
	uint8_t big[2000] = { 0 };
	struct fixture f;

	setup_ring(&f, HODO_MODE_DISCARD, 1024, 4);
	writer_raw(&f.w, 1, big, sizeof(big)); /* before the ring was ever used */
	finish(&f, false);
	assert_int_equal(f.r.lost.too_large, 1);
	free_ring(&f);

	setup_ring(&f, HODO_MODE_DISCARD, 1024, 4);
	writer_event(&f.w, 0);
	writer_raw(&f.w, 1, big, sizeof(big));
	writer_event(&f.w, 1);
	f.w.ring->lost_busy = 3;
	f.w.written += 3;
	finish(&f, false);
	assert_int_equal(f.read, 2);
	assert_int_equal(f.r.lost.busy, 3);
	free_ring(&f);
}

/* One damaged packet: its events are counted, the others are read. */
TEST(test_damage)
{
	for (int what = 0; what < 8; what++) {
		struct hodo_packet *p;
		struct fixture f;

		setup_ring(&f, HODO_MODE_DISCARD, 1024, 16);
		for (uint64_t i = 0; i < 300; i++)
			writer_event(&f.w, i);
		p = (struct hodo_packet *)(f.w.packets + 2 * 1024);
		switch (what) {
		case 0: p->magic ^= 1; break;
		case 1: p->content_size = 8 * 1025; break;
		case 2: p->content_size = 8 * 87; break;
		case 3: p->timestamp_end = p->timestamp_begin - 1; break;
		case 4: p->events++; break;
		case 5: p->packet_seq_num++; break;
		case 6: p->timestamp_begin = 0; break;
		case 7: memset((uint8_t *)p + BODY_AT(2) + 4, 0xff, 2); break; /* an unknown id */
		}
		hodo_ring_poll(&f.r, &f.sink);
		hodo_ring_finish(&f.r, &f.sink, false);
		assert_int_equal(f.r.damage, 1);
		assert_int_equal(f.r.lost.damaged, FULL);
		assert_int_equal(f.read + lost(&f), 300);
		assert_int_equal(f.gaps, FULL);
		free_ring(&f);
	}
}

/* The open packet is damaged: the reader takes its events up to the first that makes no sense. */
TEST(test_open_damage)
{
	struct fixture f;

	setup_ring(&f, HODO_MODE_DISCARD, 4096, 4);
	for (uint64_t i = 0; i < 100; i++)
		writer_event(&f.w, i);
	memset(f.w.packets + BODY_AT(60), 0xee, 6);
	hodo_ring_finish(&f.r, &f.sink, false);
	assert_int_equal(f.read, 60);
	assert_int_equal(f.r.lost.damaged, 40);
	assert_int_equal(f.r.discarded, 40);
	free_ring(&f);
}
