/* SPDX-License-Identifier: MIT */
/*
 * writer.c - a writer of rings by the published protocol.
 */
#define _GNU_SOURCE
#include "writer.h"

#include <string.h>
#include <time.h>

#define HEADER ((uint32_t)sizeof(struct hodo_packet))

static uint64_t tick(struct writer *w)
{
	struct timespec t;

	if (w->now)
		return w->now += 4;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct hodo_packet *packet_of(struct writer *w, uint64_t position)
{
	return (struct hodo_packet *)(w->packets + ((position & ~(uint64_t)(w->packet_size - 1)) & (w->ring_size - 1)));
}

static void open_packet(struct writer *w, uint64_t position, uint64_t seq, uint64_t before, uint64_t now)
{
	struct hodo_packet *p = packet_of(w, position);

	memset(p, 0, sizeof(*p));
	p->magic = HODO_CTF_MAGIC;
	p->packet_size = 8ull * w->packet_size;
	p->packet_seq_num = seq;
	p->timestamp_begin = now;
	p->events_discarded = w->ring->lost_full + w->ring->lost_too_large + w->ring->lost_busy;
	p->cpu_id = w->cpu;
	p->events_before = before;
	w->anchor = (struct record_anchor){ 0 };
}

int writer_switch(struct writer *w)
{
	uint64_t word = w->ring->word, position = word >> HODO_WORD_COUNT_BITS;
	struct hodo_packet *old = packet_of(w, position);
	uint64_t next = (position & ~(uint64_t)(w->packet_size - 1)) + w->packet_size;
	uint64_t seq = old->packet_seq_num, before = old->events_before + (word & HODO_WORD_COUNT_MASK);
	uint64_t now = tick(w);

	if (w->mode == HODO_MODE_DISCARD &&
	    seq + 1 - __atomic_load_n(&w->ring->consumed, __ATOMIC_ACQUIRE) >= w->ring_size / w->packet_size)
		return -1;
	old->timestamp_end = now;
	old->content_size = 8 * (position & (w->packet_size - 1));
	old->events = word & HODO_WORD_COUNT_MASK;
	open_packet(w, next, seq + 1, before, now);
	__atomic_store_n(&w->ring->word, (next + HEADER) << HODO_WORD_COUNT_BITS, __ATOMIC_RELEASE);
	return 0;
}

/* Finds room for a record of that many bytes; NULL if the record is lost. */
static uint8_t *make_room(struct writer *w, uint32_t total)
{
	uint64_t position;

	w->written++;
	total += RECORD_ANCHOR_BYTES;
	if (total + HEADER >= w->packet_size) {
		w->ring->lost_too_large++;
		return NULL;
	}
	if (w->ring->word == 0) {
		open_packet(w, 0, 0, 0, tick(w));
		__atomic_store_n(&w->ring->word, (uint64_t)HEADER << HODO_WORD_COUNT_BITS, __ATOMIC_RELEASE);
	}
	position = w->ring->word >> HODO_WORD_COUNT_BITS;
	if ((position & (w->packet_size - 1)) + total >= w->packet_size && writer_switch(w) < 0) {
		w->ring->lost_full++;
		return NULL;
	}
	position = w->ring->word >> HODO_WORD_COUNT_BITS;
	return w->packets + (position & (w->ring_size - 1));
}

static void commit(struct writer *w, uint64_t bytes)
{
	__atomic_store_n(&w->ring->word, w->ring->word + (bytes << HODO_WORD_COUNT_BITS) + 1, __ATOMIC_RELEASE);
}

static uint32_t tid_of(const struct writer *w)
{
	return w->threads ? w->tid : 7;
}

void writer_raw(struct writer *w, uint16_t id, const void *fields, uint32_t len)
{
	uint8_t *p = make_room(w, RECORD_EVENT_BYTES + len);
	uint64_t now;
	size_t n;

	if (!p)
		return;
	now = tick(w);
	n = record_anchor_for(p, &w->anchor, now, tid_of(w), 0);
	n += record_event(p + n, id, now);
	memcpy(p + n, fields, len);
	commit(w, n + len);
}

void writer_call(struct writer *w, enum record_form form, uint64_t function, uint64_t frame)
{
	uint8_t *p = make_room(w, RECORD_CALL_BYTES);
	uint64_t now;
	size_t n;

	if (!p)
		return;
	now = tick(w);
	n = record_anchor_for(p, &w->anchor, now, tid_of(w), frame);
	n += record_call(p + n, form, now, function, frame);
	commit(w, n);
}

void writer_event(struct writer *w, uint64_t value)
{
	writer_raw(w, 1, &value, sizeof(value));
}

void writer_text(struct writer *w, const char *text, uint32_t value)
{
	uint8_t fields[2 + 256 + 4];
	uint16_t len = (uint16_t)strlen(text);

	memcpy(fields, &len, 2);
	memcpy(fields + 2, text, len);
	memcpy(fields + 2 + len, &value, 4);
	writer_raw(w, 2, fields, 2 + len + 4u);
}

void writer_any(struct writer *w, uint64_t i)
{
	w->tid = 7 + i % 20 / 10;
	if (i % 5 == 0)
		writer_text(w, "text", (uint32_t)i);
	else if (i % 5 < 3)
		writer_event(w, i);
	else
		writer_call(w, i % 5 == 3 ? RECORD_CALL : RECORD_RETURN, 0x400000 + i * 8, 0x7ffc00000008 + i * 16);
}

static char *put(char *to, const char *s)
{
	strcpy(to, s);
	return to + strlen(s) + 1;
}

static void finish_record(uint8_t *catalog, uint64_t *used, struct hodo_record *head, const char *end)
{
	uint32_t size = (uint32_t)((const uint8_t *)end - (catalog + *used));

	size = (size + 7) & ~7u;
	head->size = size;
	memcpy(catalog + *used, head, sizeof(*head));
	*used += size;
}

void writer_catalog_event(uint8_t *catalog, uint64_t *used, uint16_t id, const char *name, const uint8_t *types,
			  unsigned int nfields, const char *const *fields)
{
	struct hodo_record_event r = {
		.head = { 0, HODO_RECORD_EVENT, id }, .kind = HODO_KIND_EVENT, .nfields = (uint8_t)nfields, .line = 3,
	};
	uint8_t *at = catalog + *used;
	char *to = (char *)at + sizeof(r) + nfields;

	memcpy(at, &r, sizeof(r));
	memcpy(at + sizeof(r), types, nfields);
	to = put(to, name);
	for (unsigned int i = 0; i < nfields; i++)
		to = put(to, fields[i]);
	to = put(to, "");
	to = put(to, "writer.c");
	to = put(to, "main");
	to = put(to, "/no/such/program");
	finish_record(catalog, used, &r.head, to);
}

void writer_catalog_warning(uint8_t *catalog, uint64_t *used, const char *text)
{
	struct hodo_record r = { 0, HODO_RECORD_WARNING, 0 };

	finish_record(catalog, used, &r, put((char *)catalog + *used + sizeof(r), text));
}

uint64_t writer_catalog(uint8_t *catalog)
{
	static const uint8_t number[] = { HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR, HODO_TYPE_U32 };
	static const char *const number_names[] = { "value" }, *const text_names[] = { "text", "_n" };
	uint64_t used = 0;

	writer_catalog_event(catalog, &used, 1, "fake:number", number, 1, number_names);
	writer_catalog_event(catalog, &used, 2, "fake:text", text, 2, text_names);
	return used;
}

void writer_catalog_calls(uint8_t *catalog, uint64_t *used)
{
	static const uint8_t types[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	static const char *const names[] = { "addr", "frame" };
	uint64_t entry = *used, exit;

	writer_catalog_event(catalog, used, WRITER_CALL, "func:entry", types, 2, names);
	exit = *used;
	writer_catalog_event(catalog, used, WRITER_RETURN, "func:exit", types, 2, names);
	((struct hodo_record_event *)(catalog + entry))->kind = HODO_KIND_FUNCTION;
	((struct hodo_record_event *)(catalog + exit))->kind = HODO_KIND_FUNCTION;
}
