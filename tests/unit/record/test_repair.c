/* SPDX-License-Identifier: MIT */
/*
 * test_repair.c - a flight recorder's file whose rings have lost their position: from the packet that was open, the
 * reader takes what was last written there, and nothing from an earlier lap.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <lib/random.h>
#include <lib/unit.h>

#include <record/catalog.h>
#include <record/recover/flight_memory.h>
#include <record/ring/ring_copy.h>

#include "honest.h"
#include "writer.h"

#define RECORDS_MAX 4000u
#define FRAME 0x7ffc00000008

static struct {
	int fd;
	uint8_t *file;
	struct writer w;
	uint64_t seed;
	/* For each record that was written. */
	struct {
		uint64_t time;
		uint32_t tid;
	} record[RECORDS_MAX];
	uint32_t n, anchored; /* number of records; number of the last one that has an anchor before it */
} flight;

static void start(void)
{
	struct hodo_flight *head;
	struct hodo_shm *shm;
	uint64_t used;

	flight.fd = memfd_create("flight", MFD_CLOEXEC);
	assert_true(flight.fd >= 0);
	assert_int_equal(ftruncate(flight.fd, HONEST_TOTAL), 0);
	flight.file = mmap(NULL, HONEST_TOTAL, PROT_READ | PROT_WRITE, MAP_SHARED, flight.fd, 0);
	assert_ptr_not_equal(flight.file, MAP_FAILED);
	honest_make(flight.file, false);
	memset(flight.file + HODO_SHM_RINGS, 0, HONEST_TOTAL - HODO_SHM_RINGS);
	head = (struct hodo_flight *)(flight.file + HODO_SHM_FLIGHT_HEAD);
	memset(head->uuid, 0, sizeof(head->uuid));
	used = writer_catalog(flight.file + HODO_SHM_CATALOG);
	writer_catalog_calls(flight.file + HODO_SHM_CATALOG, &used);
	shm = (struct hodo_shm *)flight.file;
	shm->catalog_used = used;
	flight.w = (struct writer){
		.ring = (struct hodo_ring *)(flight.file + HODO_SHM_RINGS), .packets = flight.file + HONEST_DATA,
		.ring_size = HONEST_RING, .packet_size = HONEST_PACKET, .mode = HODO_MODE_OVERWRITE, .now = 1000,
		.threads = 1, .tid = 7,
	};
	flight.n = flight.anchored = 0;
}

static void end(void)
{
	munmap(flight.file, HONEST_TOTAL);
	close(flight.fd);
}

static uint64_t choose(uint64_t below)
{
	return xorshift(&flight.seed) % below;
}

/* One record with its number in it. mixed: of any form and length, otherwise all alike. */
static void write_one(bool mixed)
{
	static const char text[] = "what is said here has many lengths, and its bytes could be anything: \2\2\2\2\1\0";
	struct record_anchor anchor = flight.w.anchor;
	uint64_t packet = flight.w.ring->word >> HODO_WORD_COUNT_BITS >> 10, form = mixed ? choose(3) : 0;

	if (form == 0)
		writer_event(&flight.w, flight.n);
	else if (form == 1)
		writer_text(&flight.w, text + choose(sizeof(text)), flight.n);
	else
		writer_call(&flight.w, choose(2) ? RECORD_CALL : RECORD_RETURN, 0x400000, FRAME + 16ull * flight.n);
	if (flight.w.ring->word >> HODO_WORD_COUNT_BITS >> 10 != packet ||
	    memcmp(&anchor, &flight.w.anchor, sizeof(anchor)) != 0)
		flight.anchored = flight.n;
	flight.record[flight.n].time = flight.w.now & ~3ull;
	flight.record[flight.n++].tid = flight.w.tid;
}

struct seen {
	struct hodo_catalog catalog;
	uint32_t first, n;
};

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct seen *)arg)->catalog.walk;
}

static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct record record = record_begin(h->timestamp_begin);
	uint64_t end = h->content_size / 8 - sizeof(*h);
	struct seen *s = arg;

	for (uint64_t at = 0; at < end;) {
		uint64_t number;
		uint32_t value;
		uint16_t len;

		at += record_take(&record, body + at);
		if (record.form == RECORD_ANCHOR)
			continue;
		if (record.form != RECORD_EVENT) {
			number = (record.frame - FRAME) / 16;
		} else if (record.id == 1) {
			memcpy(&number, body + at, 8);
			at += 8;
		} else {
			memcpy(&len, body + at, 2);
			memcpy(&value, body + at + 2 + len, 4);
			number = value;
			at += 2 + len + 4u;
		}
		if (s->n++ == 0)
			s->first = (uint32_t)number;
		assert_int_equal(number, s->first + s->n - 1);
		assert_true(number < flight.n);
		assert_int_equal(record.time, flight.record[number].time);
		assert_int_equal(record.tid, flight.record[number].tid);
	}
	(void)r;
}

/* The records that are read from the present file. */
static struct seen read_file(uint32_t repaired)
{
	struct seen s = { .n = 0 };
	struct hodo_ring_sink sink = { sink_packet, sink_table, &s };
	struct hodo_ring_copies images;
	struct hodo_flight_memory m;
	struct hodo_ring_reader r;
	struct hodo_why why;

	assert_int_equal(hodo_flight_memory_read(&m, flight.fd, &why), 0);
	assert_int_equal(m.repaired, repaired);
	hodo_catalog_read(&s.catalog, m.shm + HODO_SHM_CATALOG, ((struct hodo_shm *)m.shm)->catalog_used);
	assert_int_equal(hodo_ring_copies_take(&images, m.shm, &m.layout, -1, HODO_CLOCK_MONOTONIC, true), 0);
	assert_int_equal(images.n, 1);
	hodo_ring_copy_reader(&images, &images.image[0], &r);
	hodo_ring_finish(&r, &sink, false);
	assert_int_equal(r.damage, 0);
	assert_int_equal(r.lost.damaged, 0);
	hodo_ring_copies_free(&images);
	hodo_flight_memory_free(&m);
	hodo_catalog_free(&s.catalog);
	return s;
}

/* Checks the file with `word` as its ring's position: none, or an earlier one. */
static void check(uint64_t word)
{
	struct hodo_ring ring = *flight.w.ring;
	uint64_t position = ring.word >> HODO_WORD_COUNT_BITS;
	bool first_lap = position < HONEST_RING;
	struct seen s = read_file(0), repaired;

	assert_int_equal(s.first + s.n, flight.n);
	if (position < HONEST_PACKET) /* looks like a ring that was never used */
		return;
	memset(flight.w.ring, 0, sizeof(ring));
	flight.w.ring->word = word;
	repaired = read_file(1);
	*flight.w.ring = ring;
	assert_int_equal(repaired.first, repaired.n ? s.first : 0);
	assert_int_equal(repaired.first + repaired.n, first_lap ? flight.n : repaired.n ? flight.anchored : 0);
}

/* One event after the other, all alike: events of an earlier lap lie exactly where events would be. */
TEST(test_alike)
{
	start();
	for (int i = 0; i < 2000; i++) {
		write_one(false);
		if (i % 100 == 99)
			flight.w.tid++;
		if (i % 150 == 149)
			flight.w.now += 1 << 28;
		if (i % 7 == 0)
			check(0);
	}
	end();
}

/* Records of all lengths, from several threads. */
TEST(test_mixed)
{
	for (flight.seed = 1; flight.seed < 7; flight.seed++) {
		const uint64_t seed = flight.seed;

		start();
		for (int i = 0; i < 700; i++) {
			write_one(true);
			if (choose(20) == 0)
				flight.w.tid = 7 + (uint32_t)choose(3);
			if (choose(10) == 0)
				flight.w.now += choose(1ull << (10 + choose(20)));
			if (choose(10) == 0)
				check(0);
		}
		end();
		flight.seed = seed;
	}
}

/* The page is there, but from an earlier time. */
TEST(test_earlier_word)
{
	uint64_t word = 0;

	flight.seed = 1;
	start();
	for (int i = 0; i < 700; i++) {
		write_one(true);
		if (i == 30)
			word = flight.w.ring->word;
		if (choose(5) == 0)
			flight.w.tid = 7 + (uint32_t)choose(3);
		if (i > 200 && i % 5 == 0)
			check(word);
	}
	end();
}
