/* SPDX-License-Identifier: MIT */
/* layout.c - see layout.h. */
#include "layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>

#define TIMESTAMP_MASK ((1ull << HODO_TIMESTAMP_BITS) - 1)

struct unaligned64 {
	uint64_t v;
} __attribute__((packed, may_alias));

struct hodo_read_layouts *hodo_read_layouts_new(void)
{
	return calloc(1, sizeof(struct hodo_read_layouts));
}

void hodo_layouts_clear(struct hodo_read_layouts *layouts)
{
	for (uint32_t i = 0; i < layouts->n; i++)
		free(layouts->payload[i]);
	free(layouts->payload);
	free(layouts->fixed);
	*layouts = (struct hodo_read_layouts){ 0 };
}

void hodo_read_layouts_free(struct hodo_read_layouts *layouts)
{
	if (layouts)
		hodo_layouts_clear(layouts);
	free(layouts);
}

static int make_room(struct hodo_read_layouts *l, uint32_t id)
{
	uint32_t n = l->n, both = n;

	if (hodo_vec_reserve(l->fixed, n, id + 1) < 0 || hodo_vec_reserve(l->payload, both, id + 1) < 0)
		return -ENOMEM;
	memset(l->fixed + l->n, 0, (n - l->n) * sizeof(*l->fixed));
	memset(l->payload + l->n, 0, (n - l->n) * sizeof(*l->payload));
	l->n = n;
	return 0;
}

int hodo_read_layouts_add(struct hodo_read_layouts *layouts, uint32_t id, const uint8_t *types,
			  uint32_t nfields)
{
	struct hodo_payload payload, *kept;

	if (!layouts || id == 0 || id >= HODO_EVENTS_MAX || (nfields && !types) ||
	    hodo_payload_init(&payload, types, nfields) < 0)
		return -EINVAL;
	if (hodo_layouts_have(layouts, id))
		return memcmp(layouts->payload[id], &payload, sizeof(payload)) == 0 ? 0 : -EEXIST;
	if (id >= layouts->n && make_room(layouts, id) < 0)
		return -ENOMEM;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = payload;
	layouts->payload[id] = kept;
	layouts->fixed[id] = payload.variables ? 0 : HODO_EVENT_HEADER + payload.fixed[0];
	return 0;
}

/* Read once: the memory may be shared with a hostile process. */
static uint64_t head_at(const uint8_t *p)
{
	return ((const volatile struct unaligned64 *)p)->v;
}

void hodo_layouts_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, size_t bytes,
		       uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t step_max, uint64_t events_max,
		       struct hodo_read_walk *walk)
{
	const uint8_t *p = body, *end = p + bytes;
	struct hodo_read_walk w = { .timestamp_last = timestamp_begin, .stop = HODO_READ_STOP_END };

	while (p < end && w.events < events_max && w.stop == HODO_READ_STOP_END) {
		size_t room = (size_t)(end - p);
		uint64_t head = room < HODO_EVENT_HEADER ? 0 : head_at(p), size;
		uint32_t id = (uint16_t)head;

		if (room < HODO_EVENT_HEADER) {
			w.stop = HODO_READ_STOP_SHORT;
			break;
		}
		size = hodo_layouts_size(layouts, id, p, room);
		if (size == 0 || size > room) {
			w.stop = size ? HODO_READ_STOP_SHORT : HODO_READ_STOP_ID;
			break;
		}
		/* Most events come in runs of one id and size. */
		for (;;) {
			uint64_t step = ((head >> 16) - w.timestamp_last) & TIMESTAMP_MASK;
			uint64_t time = w.timestamp_last + step;

			if (step > step_max || time > timestamp_limit || time < w.timestamp_last) {
				w.stop = HODO_READ_STOP_TIME;
				break;
			}
			w.timestamp_last = time;
			w.events++;
			p += size;
			if (!layouts->fixed[id] || w.events == events_max || (size_t)(end - p) < size)
				break;
			head = head_at(p);
			if ((uint16_t)head != id)
				break;
		}
	}
	w.bytes = (size_t)(p - body);
	*walk = w;
}

int hodo_read_walk(const struct hodo_read_layouts *layouts, const void *body, size_t bytes,
		   uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t events_max,
		   struct hodo_read_walk *walk)
{
	if (!layouts || !walk || (!body && bytes))
		return -EINVAL;
	hodo_layouts_walk(layouts, body, bytes, timestamp_begin, timestamp_limit, UINT64_MAX, events_max, walk);
	return 0;
}
