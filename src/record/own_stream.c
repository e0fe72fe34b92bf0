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
	hodo_stream_init(&p->own, p->id.flight.uuid, p->layout.rings - 1, p->layout.rings - 1);
	strcpy(p->own.name, name);
	p->own.compressor = p->session->compressor;
	own->head.magic = HODO_CTF_MAGIC;
	own->head.timestamp_begin = hodo_clock_now(p->session->clock);
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
	hodo_stream_end(&own->process->own);
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

void hodo_own_stream_room(struct hodo_own_stream *own, size_t bytes)
{
	if (own->used + bytes > own->room)
		write_packet(own);
}

void hodo_own_stream_add(struct hodo_own_stream *own, uint16_t id, void *event, size_t bytes, const void *more,
			 size_t more_bytes)
{
	uint64_t ts = own->head.timestamp_begin << (64 - HODO_TIMESTAMP_BITS) >> (64 - HODO_TIMESTAMP_BITS);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	((struct hodo_own_event *)event)->head = ts << 16 | id;
#else
	((struct hodo_own_event *)event)->head = id | ts << 16;
#endif
	memcpy(own->body + own->used, event, bytes);
	if (more_bytes)
		memcpy(own->body + own->used + bytes, more, more_bytes);
	own->used += bytes + more_bytes;
	own->head.events++;
}
