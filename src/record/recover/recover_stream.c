/* SPDX-License-Identifier: MIT */
/*
 * recover_stream.c - one stream of an interrupted recording, written anew.
 *
 * A killed recorder leaves part of a packet at the end. The reader finds the packets behind other damage, too.
 */
#include "recover.h"

#include <errno.h>
#include <stdio.h>

#include <read/file/packets.h>

#include <record/write/stream.h>

#define HEADER ((uint32_t)sizeof(struct hodo_packet))

struct copy {
	const struct hodo_read_stream *from;
	const struct hodo_read_layouts *table;
	struct hodo_stream_file *to;
	int out;
	uint64_t torn;      /* events that packets have and that are not whole */
	uint64_t missed;    /* all that are neither written nor counted by a packet of the source */
	uint64_t discarded; /* as the last packet has it */
	uint64_t ts_end;
	struct hodo_recover_stream *result;
};

/* Whether the packet can be written behind the last one. */
static bool fits(const struct copy *c, const struct hodo_packet *h)
{
	return h->timestamp_begin >= c->ts_end && h->timestamp_end >= h->timestamp_begin;
}

/* Writes the whole events of a packet. */
static int copy_packet(struct copy *c, struct hodo_read_packet *p)
{
	struct hodo_packet *h = &p->head;
	uint32_t len = (uint32_t)(h->content_size / 8) - HEADER;
	struct hodo_walk_result walk;
	bool torn;
	int err;

	hodo_walk(c->table, p->body, (uint32_t)p->bytes, h->timestamp_begin, h->events, &walk);
	torn = walk.events != h->events || walk.bytes != len || walk.ts_last > h->timestamp_end;
	if (torn) {
		c->torn += h->events - walk.events;
		h->events = walk.events;
		h->content_size = 8ull * (HEADER + walk.bytes);
		h->timestamp_end = walk.ts_last > h->timestamp_begin ? walk.ts_last : h->timestamp_begin;
	}
	h->packet_size = h->content_size;
	c->discarded = h->events_discarded;
	c->missed = p->missing + c->torn;
	h->events_discarded += c->missed;
	if (h->events_discarded < c->to->discarded) /* it decreases where a packet was damaged */
		h->events_discarded = c->to->discarded;
	c->ts_end = h->timestamp_end;
	if (c->result->ts_begin == UINT64_MAX)
		c->result->ts_begin = h->timestamp_begin;
	c->to->cpu_id = h->cpu_id;
	err = hodo_stream_file_write(c->to, c->out, h, p->body);
	/* After a torn packet, the next may be anywhere, since the size may be damaged. */
	return !err && torn ? hodo_packets_search(c->from, walk.bytes) : err;
}

static int copy_all(struct copy *c)
{
	struct hodo_read_packet p;
	int got, err = 0;

	hodo_packets_start(c->from);
	while (!err && (got = hodo_packets_next(c->from, &p)) > 0) {
		if (p.compressed && !c->to->compressor)
			c->to->compressor = hodo_compressor_new(HODO_COMPRESS_DEFAULT);
		if (p.compressed && !c->to->compressor)
			err = -ENOMEM;
		else if (fits(c, &p.head))
			err = copy_packet(c, &p);
		else
			err = hodo_packets_search(c->from, 0);
	}
	return err ? err : got;
}

int hodo_recover_stream(const struct hodo_read_process *process, const struct hodo_read_stream *from, int out,
			struct hodo_recover_stream *result)
{
	struct hodo_stream_file to;
	struct copy c = { .from = from, .table = hodo_layouts_of(process), .to = &to, .out = out, .result = result };
	int err;

	*result = (struct hodo_recover_stream){ .ts_begin = UINT64_MAX };
	hodo_stream_file_init(&to, process->uuid, 0, 1);
	snprintf(to.name, sizeof(to.name), "%s", from->name);
	err = copy_all(&c);
	if (!err)
		err = hodo_stream_file_settle(&to, out, c.discarded + c.missed, c.ts_end);
	result->events = to.events;
	result->bytes = to.bytes;
	result->torn = c.missed;
	hodo_stream_file_end(&to);
	hodo_compressor_free(to.compressor);
	return err;
}
