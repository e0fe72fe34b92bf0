/* SPDX-License-Identifier: MIT */
/* layout.h - where events end, by their ids, and the walk over the events of a packet. */
#ifndef HODO_READ_LAYOUT_H
#define HODO_READ_LAYOUT_H

#include <core/payload.h>
#include <hodo/read.h>
#include <stdbool.h>
#include <string.h>

/* All zero: none. */
struct hodo_read_layouts {
	uint32_t n;                    /* ids below n have an entry */
	uint32_t *fixed;               /* bytes of the event with its header; 0: they vary, or the id is unknown */
	struct hodo_payload **payload; /* NULL: the id is unknown */
};

static inline bool hodo_layouts_have(const struct hodo_read_layouts *l, uint32_t id)
{
	return id < l->n && l->payload[id];
}

/* Bytes of the event at p, whose header is there; if that is more than room, it has at least so many. 0: the id is
 * unknown. */
static inline uint64_t hodo_layouts_size(const struct hodo_read_layouts *l, uint32_t id, const uint8_t *p,
					 uint64_t room)
{
	if (id >= l->n)
		return 0;
	if (l->fixed[id])
		return l->fixed[id];
	if (!l->payload[id])
		return 0;
	return HODO_EVENT_HEADER + hodo_payload_size(l->payload[id], p + HODO_EVENT_HEADER, room - HODO_EVENT_HEADER);
}

/* The same where the header, too, may be cut off: then as many bytes as that has. */
static inline uint64_t hodo_layouts_size_at(const struct hodo_read_layouts *l, const uint8_t *p, uint64_t room)
{
	uint16_t id;

	if (room < HODO_EVENT_HEADER)
		return HODO_EVENT_HEADER;
	memcpy(&id, p, sizeof(id));
	return hodo_layouts_size(l, id, p, room);
}

/* As hodo_read_walk(); besides, no event is more than step_max later than the one before. */
void hodo_layouts_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, size_t bytes,
		       uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t step_max, uint64_t events_max,
		       struct hodo_read_walk *walk);

/* Of the events of a process that a reader has opened. */
const struct hodo_read_layouts *hodo_layouts_of(const struct hodo_read_process *process);

void hodo_layouts_clear(struct hodo_read_layouts *layouts);

#endif
