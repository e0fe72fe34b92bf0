/* SPDX-License-Identifier: MIT */
/* own_stream.c - see own_stream.h. */
#define _GNU_SOURCE
#include "own_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hodo_own_stream_begin(struct hodo_own_stream *own, struct hodo_process *p, const char *name)
{
	*own = (struct hodo_own_stream){ .process = p, .room = p->layout.packet_size - sizeof(struct hodo_packet) };
	hodo_stream_file_init(&p->own, p->id.flight.uuid, p->layout.rings - 1, p->layout.rings - 1);
	strcpy(p->own.name, name);
	p->own.compressor = p->recorder->thread[0].compressor;
	own->head.magic = HODO_CTF_MAGIC;
	own->head.timestamp_begin = hodo_clock_ticks(p->recorder->clock);
	own->body = malloc(own->room);
	if (!own->body)
		hodo_process_report(p, "its %s is lost: out of memory", name);
	return own->body ? 0 : -ENOMEM;
}

static void write_packet(struct hodo_own_stream *own)
{
	struct hodo_process *p = own->process;

	if (own->head.events == 0)
		return;
	own->head.content_size = own->head.packet_size = 8 * (sizeof(own->head) + own->used);
	own->head.timestamp_end = own->head.timestamp_begin;
	hodo_process_write(p, &p->own, &own->head, own->body);
	own->head.timestamp_begin += HODO_STREAM_APART;
	own->head.events_before += own->head.events;
	own->head.events = 0;
	own->used = 0;
}

void hodo_own_stream_end(struct hodo_own_stream *own)
{
	write_packet(own);
	hodo_stream_file_end(&own->process->own);
	free(own->body);
}

uint16_t hodo_own_stream_id(const struct hodo_own_stream *own, const char *name, const uint8_t *types, size_t n)
{
	const struct hodo_catalog *c = &own->process->catalog;

	for (uint32_t i = 0; i < c->events; i++) {
		const struct hodo_catalog_event *e = c->event[i];

		if (e->kind == HODO_KIND_FUNCTION && strcmp(e->name, name) == 0 && e->nfields == n &&
		    memcmp(e->type, types, n) == 0)
			return e->id;
	}
	return 0;
}

void hodo_own_stream_room(struct hodo_own_stream *own, size_t payload)
{
	if (own->used + HODO_ANCHOR_BYTES + HODO_EVENT_HEADER + payload > own->room)
		write_packet(own);
}

static void put(struct hodo_own_stream *own, const void *data, size_t bytes)
{
	if (bytes)
		memcpy(own->body + own->used, data, bytes);
	own->used += bytes;
}

void hodo_own_stream_add(struct hodo_own_stream *own, uint16_t id, uint32_t tid, const void *payload, size_t bytes,
			 const void *more, size_t more_bytes)
{
	uint64_t head = hodo_event_word(id, own->head.timestamp_begin), anchor[2];

	if (own->used == 0 || tid != own->tid) {
		hodo_anchor_words(anchor, own->head.timestamp_begin, tid, 0);
		put(own, anchor, sizeof(anchor));
		own->tid = tid;
	}
	put(own, &head, HODO_EVENT_HEADER);
	put(own, payload, bytes);
	put(own, more, more_bytes);
	own->head.events++;
}
