/* SPDX-License-Identifier: MIT */
/*
 * event_walk.c - walks the events of a packet by their sizes alone.
 */
#include "event_walk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shm.h"

#define TIMESTAMP_MASK ((1ull << HODO_TIMESTAMP_BITS) - 1)

unsigned int hodo_walk_scalar_size(unsigned int type)
{
	static const uint8_t size[] = {
		[HODO_TYPE_I8] = 1,   [HODO_TYPE_U8] = 1,  [HODO_TYPE_I16] = 2,  [HODO_TYPE_U16] = 2,
		[HODO_TYPE_I32] = 4,  [HODO_TYPE_U32] = 4, [HODO_TYPE_I64] = 8,  [HODO_TYPE_U64] = 8,
		[HODO_TYPE_BOOL] = 1, [HODO_TYPE_CHAR] = 1, [HODO_TYPE_F32] = 4, [HODO_TYPE_F64] = 8,
		[HODO_TYPE_PTR] = 8,
	};

	return type < sizeof(size) ? size[type] : 0;
}

static int shape_of(struct hodo_walk_shape *s, const uint8_t *types, unsigned int nfields)
{
	memset(s, 0, sizeof(*s));
	if (nfields > HODO_WALK_FIELDS_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < nfields; i++) {
		unsigned int size = hodo_walk_scalar_size(types[i]);

		if (size) {
			s->fixed[s->variables] += (uint16_t)size;
			continue;
		}
		if (types[i] == HODO_TYPE_BYTES)
			size = 1;
		else if (types[i] & HODO_TYPE_ARRAY)
			size = hodo_walk_scalar_size(types[i] & ~(unsigned int)HODO_TYPE_ARRAY);
		if (!size && types[i] != HODO_TYPE_STR)
			return -EINVAL;
		s->element[s->variables++] = (uint8_t)size;
	}
	s->known = 1;
	return 0;
}

int hodo_walk_add(struct hodo_walk_table *table, uint16_t id, const uint8_t *types, unsigned int nfields)
{
	struct hodo_walk_shape s;
	int err = shape_of(&s, types, nfields);

	if (err)
		return err;
	if (id >= table->size) {
		uint32_t size = table->size ? table->size : 64;
		struct hodo_walk_shape *shape;

		while (size <= id)
			size *= 2;
		shape = realloc(table->shape, size * sizeof(*shape));
		if (!shape)
			return -ENOMEM;
		memset(shape + table->size, 0, (size - table->size) * sizeof(*shape));
		table->shape = shape;
		table->size = size;
	}
	table->shape[id] = s;
	return 0;
}

void hodo_walk_free(struct hodo_walk_table *table)
{
	free(table->shape);
	memset(table, 0, sizeof(*table));
}

/* Bytes of an event's fields, of which left are there; UINT32_MAX if they are not enough. */
static uint32_t payload_size(const struct hodo_walk_shape *s, const uint8_t *p, uint32_t left)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < s->variables; i++) {
		unsigned int length_size = s->element[i] ? 4 : 2;

		at += s->fixed[i];
		if (at + length_size > left)
			return UINT32_MAX;
		if (s->element[i])
			at += 4 + (uint64_t)hodo_shm_get32(p + at) * s->element[i];
		else
			at += 2 + (uint64_t)hodo_shm_get16(p + at);
		if (at > left)
			return UINT32_MAX;
	}
	at += s->fixed[s->variables];
	return at > left ? UINT32_MAX : (uint32_t)at;
}

/* Goes on over events of one id and fixed size, as most come in runs. */
static void walk_run(const uint8_t *body, uint32_t len, uint32_t events_max, uint16_t id, uint32_t bytes,
		     struct hodo_walk_result *w)
{
	uint32_t at = w->bytes, n = w->events;
	uint64_t ts = w->ts_last;

	while (n < events_max && len - at >= bytes) {
		uint64_t head = hodo_shm_get64(body + at);
		uint64_t step = ((head >> 16) - ts) & TIMESTAMP_MASK;

		if ((uint16_t)head != id || step > TIMESTAMP_MASK / 2 || step > UINT64_MAX - ts)
			break;
		ts += step;
		at += bytes;
		n++;
	}
	*w = (struct hodo_walk_result){ n, at, ts };
}

void hodo_walk(const struct hodo_walk_table *table, const uint8_t *body, uint32_t len, uint64_t ts_begin,
	       uint32_t events_max, struct hodo_walk_result *result)
{
	struct hodo_walk_result w = { 0, 0, ts_begin };

	while (w.events < events_max && len - w.bytes >= HODO_EVENT_HEADER) {
		uint32_t left = len - w.bytes - HODO_EVENT_HEADER, size;
		const uint8_t *event = body + w.bytes;
		uint64_t head = hodo_shm_get64(event);
		uint16_t id = (uint16_t)head;
		uint64_t step = ((head >> 16) - w.ts_last) & TIMESTAMP_MASK;
		const struct hodo_walk_shape *s;

		if (id >= table->size || !table->shape[id].known || step > TIMESTAMP_MASK / 2 ||
		    step > UINT64_MAX - w.ts_last)
			break;
		s = &table->shape[id];
		size = s->variables == 0 ? s->fixed[0] : payload_size(s, event + HODO_EVENT_HEADER, left);
		if (size > left) /* UINT32_MAX, too */
			break;
		w.ts_last += step;
		w.bytes += HODO_EVENT_HEADER + size;
		w.events++;
		if (s->variables == 0)
			walk_run(body, len, events_max, id, HODO_EVENT_HEADER + size, &w);
	}
	*result = w;
}

/* Bytes of the event at p, header included, of which left are there; 0 if they are not enough, or it is unknown. */
static inline uint32_t event_size(const struct hodo_walk_table *table, uint16_t id, const uint8_t *p, uint32_t left)
{
	const struct hodo_walk_shape *s;
	uint32_t size;

	if (id >= table->size || !table->shape[id].known)
		return 0;
	s = &table->shape[id];
	size = s->variables == 0 ? s->fixed[0] : payload_size(s, p + HODO_EVENT_HEADER, left - HODO_EVENT_HEADER);
	return size > left - HODO_EVENT_HEADER ? 0 : HODO_EVENT_HEADER + size;
}

/*
 * How many events of one id, fixed size and thread follow each other, as most do. The processor need not wait for an
 * event's id before it looks at the next one, which it must where the id says where that is.
 */
static uint32_t same_events(const uint8_t *body, uint32_t len, uint16_t id, uint32_t tid, uint32_t size)
{
	uint32_t at = 0, n = 0;

	while (len - at >= size && hodo_shm_get16(body + at) == id && hodo_shm_get32(body + at + 8) == tid) {
		at += size;
		n++;
	}
	return n;
}

uint32_t hodo_walk_count(const struct hodo_walk_table *table, const uint8_t *body, uint32_t len,
			 const struct hodo_walk_counter *c)
{
	uint32_t at = 0, run_at = 0, run_events = 0, run_tid = 0;

	while (len - at >= HODO_EVENT_HEADER) {
		uint16_t id = hodo_shm_get16(body + at);
		uint32_t tid = hodo_shm_get32(body + at + 8);
		uint32_t size = event_size(table, id, body + at, len - at), n = 1;

		if (size == 0 || id >= c->size)
			break;
		if (tid != run_tid) {
			if (run_events)
				c->run(c->arg, run_tid, run_events, at - run_at);
			run_tid = tid;
			run_at = at;
			run_events = 0;
		}
		if (table->shape[id].variables == 0)
			n += same_events(body + at + size, len - at - size, id, tid, size);
		c->tally[id].events += n;
		c->tally[id].bytes += (uint64_t)n * size;
		run_events += n;
		at += n * size;
	}
	if (run_events)
		c->run(c->arg, run_tid, run_events, at - run_at);
	return at;
}
