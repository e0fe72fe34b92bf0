/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the reader of a ring whose memory holds anything.
 *
 * Input: one byte of choices, then changes to a ring that holds honest
 * packets, each 8 bytes of value and 4 of place; between them it polls, or
 * takes the open packet. What comes out must make a valid trace.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lib/fuzz.h>
#include <record/ring/ring_reader.h>

#include <unit/record/writer.h>

#define PACKET 1024u
#define RING (8 * PACKET)

struct out {
	struct hodo_read_layouts table;
	uint64_t ts_end, discarded, packets;
};

static const struct hodo_read_layouts *sink_table(void *arg)
{
	return &((struct out *)arg)->table;
}

static void sink_packet(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *h, const uint8_t *body)
{
	struct hodo_walk_result walk;
	struct out *o = arg;
	uint64_t bytes = h->content_size / 8;

	if (bytes < sizeof(*h) || bytes > PACKET || h->packet_size != h->content_size ||
	    h->timestamp_begin > h->timestamp_end || h->timestamp_begin < o->ts_end ||
	    h->events_discarded < o->discarded || h->events_discarded == UINT64_MAX)
		abort();
	hodo_walk(&o->table, body, (uint32_t)(bytes - sizeof(*h)), h->timestamp_begin, h->events, &walk);
	if (walk.events != h->events || walk.bytes != bytes - sizeof(*h) || walk.ts_last > h->timestamp_end)
		abort();
	o->ts_end = h->timestamp_end;
	o->discarded = h->events_discarded;
	if (++o->packets > 100000)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t number[] = { HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR, HODO_TYPE_U32 };
	static const uint8_t call[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	static uint8_t memory[sizeof(struct hodo_ring) + RING] __attribute__((aligned(64)));
	static uint8_t copy[PACKET];
	struct hodo_layout layout = { .packet_size = PACKET, .ring_size = RING };
	enum hodo_mode mode = len > 0 && data[0] & 1 ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD;
	struct writer w = { .ring = (struct hodo_ring *)memory, .packets = memory + sizeof(struct hodo_ring),
			    .ring_size = RING, .packet_size = PACKET, .mode = mode, .now = 1000, .threads = 1 };
	struct out out = { 0 };
	struct hodo_ring_sink sink = { sink_packet, sink_table, &out };
	struct hodo_ring_reader r;

	memset(memory, 0, sizeof(memory));
	hodo_read_layouts_add(&out.table, 1, number, 1);
	hodo_read_layouts_add(&out.table, 2, text, 2);
	hodo_read_layouts_add(&out.table, WRITER_CALL, call, 2);
	hodo_read_layouts_add(&out.table, WRITER_RETURN, call, 2);
	hodo_read_layouts_calls(&out.table, WRITER_CALL, WRITER_RETURN);
	hodo_ring_reader_init(&r, w.ring, w.packets, &layout, mode, copy);
	for (uint64_t i = 0; len > 0 && i < 50u * (data[0] >> 1); i++)
		writer_any(&w, i);
	for (size_t at = 1; at + 12 <= len; at += 12) {
		uint64_t value;
		uint32_t place;

		memcpy(&value, data + at, 8);
		memcpy(&place, data + at + 8, 4);
		memcpy(memory + place % (sizeof(memory) - 8), &value, 8);
		if (place & 1u << 31)
			hodo_ring_take_open(&r, &sink);
		else
			hodo_ring_poll(&r, &sink);
	}
	hodo_ring_open_since(&r);
	hodo_ring_events(&r);
	hodo_ring_finish(&r, &sink, len > 0 && data[len - 1] & 1);
	hodo_layouts_clear(&out.table);
	return 0;
}
