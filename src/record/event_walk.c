/* SPDX-License-Identifier: MIT */
/*
 * event_walk.c - walks the events of a packet by their sizes alone.
 */
#include "event_walk.h"

#include "shm.h"

/* A step that is longer than that runs back. */
#define STEP_MAX ((1ull << (HODO_TIMESTAMP_BITS - 1)) - 1)

void hodo_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len, uint64_t ts_begin,
	       uint32_t events_max, struct hodo_walk_result *result)
{
	struct hodo_read_walk w;

	hodo_layouts_walk(layouts, body, len, ts_begin, UINT64_MAX, STEP_MAX, events_max, &w);
	*result = (struct hodo_walk_result){ (uint32_t)w.events, (uint32_t)w.bytes, w.timestamp_last };
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

uint32_t hodo_walk_count(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len,
			 const struct hodo_walk_counter *c)
{
	uint32_t at = 0, run_at = 0, run_events = 0, run_tid = 0;

	while (len - at >= HODO_EVENT_HEADER) {
		uint16_t id = hodo_shm_get16(body + at);
		uint32_t tid = hodo_shm_get32(body + at + 8);
		uint32_t size, n = 1;
		uint64_t bytes;

		bytes = id < c->size ? hodo_layouts_size(layouts, id, body + at, len - at) : 0;
		if (!bytes || bytes > len - at)
			break;
		size = (uint32_t)bytes;
		if (tid != run_tid) {
			if (run_events)
				c->run(c->arg, run_tid, run_events, at - run_at);
			run_tid = tid;
			run_at = at;
			run_events = 0;
		}
		if (layouts->fixed[id])
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
