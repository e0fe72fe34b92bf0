/* SPDX-License-Identifier: MIT */
/*
 * event_walk.c - walks the events of a packet using only their sizes.
 */
#include "event_walk.h"

#include "shm.h"

void hodo_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len, uint64_t ts_begin,
	       uint32_t events_max, struct hodo_walk_result *result)
{
	struct hodo_walked w;

	hodo_layouts_walk(layouts, body, len, ts_begin, UINT64_MAX, events_max, &w);
	*result = (struct hodo_walk_result){ (uint32_t)w.walk.events, (uint32_t)w.walk.bytes, w.walk.timestamp_last,
					     w.cursor };
}

/*
 * How many events of one id and fixed size follow each other, as most do. The processor need not wait for an
 * event's id to find the next one.
 */
static uint32_t same_events(const uint8_t *body, uint32_t len, uint16_t id, uint32_t size)
{
	uint32_t at = 0, n = 0;

	while (len - at >= size && hodo_shm_get16(body + at + 4) == id &&
	       (hodo_shm_get32(body + at) & (HODO_FORM_MASK | HODO_EVENT_UNUSED)) == HODO_FORM_EVENT) {
		at += size;
		n++;
	}
	return n;
}

/* Calls and returns: as many as fit. */
static uint32_t same_calls(const uint8_t *body, uint32_t len, const struct hodo_walk_counter *c, const uint32_t id[2])
{
	uint32_t at = 0, returns = 0;

	while (len - at >= HODO_CALL_BYTES && (body[at] & HODO_FORM_MASK) <= HODO_FORM_RETURN &&
	       hodo_shm_get64(body + at)) {
		returns += body[at] & HODO_FORM_MASK;
		at += HODO_CALL_BYTES;
	}
	if (id[0] >= c->size || id[1] >= c->size)
		return 0;
	c->tally[id[0]].events += at / HODO_CALL_BYTES - returns;
	c->tally[id[0]].bytes += at - returns * HODO_CALL_BYTES;
	c->tally[id[1]].events += returns;
	c->tally[id[1]].bytes += returns * HODO_CALL_BYTES;
	return at / HODO_CALL_BYTES;
}

/* One of a packet's runs of events of the same thread. */
struct run {
	uint32_t tid, events, bytes;
};

static void end_run(const struct hodo_walk_counter *c, const struct run *run)
{
	if (run->events)
		c->run(c->arg, run->tid, run->events, run->bytes);
}

uint32_t hodo_walk_count(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len,
			 struct hodo_walk_counter *c)
{
	struct run run = { .tid = c->cursor.tid };
	uint32_t at = 0;

	while (len - at >= HODO_EVENT_HEADER) {
		uint64_t bytes = hodo_layouts_size_at(layouts, body + at, len - at);
		uint32_t form = body[at] & HODO_FORM_MASK, id = hodo_shm_get16(body + at + 4), n = 1;

		if (!bytes || bytes > len - at || (form == HODO_FORM_EVENT && id >= c->size))
			break;
		if (form == HODO_FORM_ANCHOR) {
			hodo_cursor_anchor(&c->cursor, hodo_shm_get64(body + at), hodo_shm_get64(body + at + 8));
			if (c->cursor.tid != run.tid || run.events == 0) {
				end_run(c, &run);
				run = (struct run){ .tid = c->cursor.tid };
			}
			at += (uint32_t)bytes;
			continue;
		}
		if (form <= HODO_FORM_RETURN) {
			n = !layouts->call[0] || !layouts->call[1] ? 0 :
								     same_calls(body + at, len - at, c, layouts->call);
			if (!n)
				break;
		} else {
			if (layouts->fixed[id])
				n += same_events(body + at + bytes, len - at - (uint32_t)bytes, (uint16_t)id,
						 (uint32_t)bytes);
			c->tally[id].events += n;
			c->tally[id].bytes += n * bytes;
		}
		run.events += n;
		run.bytes += n * (uint32_t)bytes;
		at += n * (uint32_t)bytes;
	}
	end_run(c, &run);
	return at;
}

static void visit(const struct hodo_walk_visitor *v, const struct hodo_read_layouts *l,
		  const struct hodo_cursor *cursor, const uint8_t *at, uint64_t word, uint32_t bytes)
{
	uint32_t form = word & HODO_FORM_MASK;
	struct hodo_walk_event e = { .tid = cursor->tid, .bytes = bytes, .time = cursor->time, .at = at };

	e.call = form <= HODO_FORM_RETURN;
	e.id = e.call ? l->call[form] : hodo_event_id(word);
	if (!cursor->anchored || e.id >= v->ids || !v->wanted[e.id])
		return;
	if (e.call) {
		e.function = hodo_call_function(word);
		e.frame = hodo_cursor_frame(cursor, word);
	}
	v->event(v->arg, &e);
}

uint64_t hodo_walk_visit(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len,
			 struct hodo_cursor cursor, const struct hodo_walk_visitor *visitor)
{
	uint32_t at = 0;

	while (len - at >= HODO_EVENT_HEADER) {
		uint64_t bytes = hodo_layouts_size_at(layouts, body + at, len - at), word = 0;

		if (!bytes || bytes > len - at)
			break;
		if (bytes >= sizeof(word))
			word = hodo_shm_get64(body + at);
		else
			hodo_shm_copy(&word, body + at, bytes);
		if ((word & HODO_FORM_MASK) == HODO_FORM_ANCHOR && bytes == HODO_ANCHOR_BYTES) {
			hodo_cursor_anchor(&cursor, word, hodo_shm_get64(body + at + 8));
		} else {
			cursor.time = hodo_cursor_time(&cursor, word);
			visit(visitor, layouts, &cursor, body + at, word, (uint32_t)bytes);
		}
		at += (uint32_t)bytes;
	}
	return cursor.time;
}

bool hodo_walk_holds(const struct hodo_read_layouts *layouts, const struct hodo_walk_event *e, const uint8_t *copy)
{
	return !e->call && hodo_layouts_size(layouts, e->id, copy, e->bytes) == e->bytes;
}
