/* SPDX-License-Identifier: MIT */
/* layout.h - sizes of records, by form and id, and the walk over the records of a packet. */
#pragma once

#include <core/payload.h>
#include <core/ring.h>
#include <hodo/read.h>
#include <stdbool.h>
#include <string.h>

struct hodo_event_layout {
	struct hodo_payload payload;
	uint32_t nfields;
	uint8_t types[HODO_PAYLOAD_FIELDS_MAX]; /* context and fields; then 0 */
};

/* All zero: none. */
struct hodo_read_layouts {
	uint32_t n;                       /* ids below n have an entry */
	uint32_t *fixed;                  /* bytes of the event with its header; 0: they vary, or the id is unknown */
	struct hodo_event_layout **event; /* NULL: the id is unknown */
	uint32_t call[2];                 /* ids of the events for calls and returns, by form; 0: none */
};

static inline bool hodo_layouts_have(const struct hodo_read_layouts *l, uint32_t id)
{
	return id < l->n && l->event[id];
}

/* Bytes of the event at p, whose header is there; a result above room is a lower bound. 0: the id is unknown. */
static inline uint64_t hodo_layouts_size(const struct hodo_read_layouts *l, uint32_t id, const uint8_t *p,
					 uint64_t room)
{
	if (id >= l->n)
		return 0;
	if (l->fixed[id])
		return l->fixed[id];
	if (!l->event[id])
		return 0;
	return HODO_EVENT_HEADER +
	       hodo_payload_size(&l->event[id]->payload, p + HODO_EVENT_HEADER, room - HODO_EVENT_HEADER);
}

/* Bytes of the record at p, as hodo_layouts_size(); of one whose header is cut off, the header's size. */
static inline uint64_t hodo_layouts_size_at(const struct hodo_read_layouts *l, const uint8_t *p, uint64_t room)
{
	uint64_t word = 0;

	if (room < HODO_EVENT_HEADER)
		return HODO_EVENT_HEADER;
	memcpy(&word, p, HODO_EVENT_HEADER);
	switch (word & HODO_FORM_MASK) {
	case HODO_FORM_ANCHOR:
		return HODO_ANCHOR_BYTES;
	case HODO_FORM_EVENT:
		return word & HODO_EVENT_UNUSED ? 0 : hodo_layouts_size(l, hodo_event_id(word), p, room);
	}
	if (room < HODO_CALL_BYTES)
		return HODO_CALL_BYTES;
	memcpy(&word, p, HODO_CALL_BYTES);
	return word && l->call[word & 1] ? HODO_CALL_BYTES : 0;
}

/* The state of reading the records of a packet. */
struct hodo_cursor {
	uint64_t time;   /* of the last record, or the packet's; 64 bits, a multiple of 4 */
	uint64_t window; /* lowest address */
	uint32_t tid;
	bool anchored;   /* else the next record must be an anchor */
};

/* At the head of a packet. */
static inline struct hodo_cursor hodo_cursor_begin(uint64_t timestamp_begin)
{
	return (struct hodo_cursor){ .time = timestamp_begin & ~3ull };
}

/* Takes an anchor, of both words. */
static inline void hodo_cursor_anchor(struct hodo_cursor *cursor, uint64_t time, uint64_t rest)
{
	cursor->time = time & ~3ull;
	cursor->tid = (uint32_t)rest & ((1u << HODO_TID_BITS) - 1);
	cursor->window = rest >> HODO_TID_BITS << HODO_WINDOW_SHIFT;
	cursor->anchored = true;
}

/* The time of a record other than an anchor. */
static inline uint64_t hodo_cursor_time(const struct hodo_cursor *cursor, uint64_t word)
{
	return cursor->time + ((word - cursor->time) & HODO_TIME_MASK);
}

/* The address of the frame in a call's word. */
static inline uint64_t hodo_cursor_frame(const struct hodo_cursor *cursor, uint64_t word)
{
	uint64_t bits = word >> HODO_FRAME_SHIFT & HODO_FRAME_MASK;

	return cursor->window + ((bits - cursor->window) & (HODO_WINDOW - 1)) + 8;
}

/* The part of the function's address that the word has. */
static inline uint64_t hodo_call_function(uint64_t word) { return word >> (HODO_FUNCTION_SHIFT + 2) << 2; }

/* Short objects. All zero: none. */
struct hodo_shorts {
	struct hodo_short {
		uint64_t start, end; /* of its code */
		uint64_t from, until; /* ticks */
	} *object;
	uint32_t n;
	uint32_t near[256]; /* the last object found at such an address */
};
/* The address for these bits of a call's record (hodo_call_function()); the bits themselves if no object has it. */
uint64_t hodo_read_shorts_address(struct hodo_shorts *shorts, uint64_t bits, uint64_t ticks);

/* Notes the event with that id as the one for calls or returns, if its kind, name and types match. */
void hodo_layouts_note_call(struct hodo_read_layouts *layouts, uint32_t id, uint32_t kind, const char *name,
			    const uint8_t *types, uint32_t nfields);

struct hodo_walked {
	struct hodo_read_walk walk;
	struct hodo_cursor cursor; /* behind it */
	/* Bytes before the last anchor that has the same time as the record after it, as writers write them:
	 * all written before it, so not left over from an earlier lap. */
	size_t anchor_bytes;
	uint64_t anchor_events;
};

/* As hodo_read_walk(). */
void hodo_layouts_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, size_t bytes,
		       uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t events_max,
		       struct hodo_walked *walked);

/* The layouts of the events of a process that a reader has opened. */
const struct hodo_read_layouts *hodo_layouts_of(const struct hodo_read_process *process);

void hodo_layouts_clear(struct hodo_read_layouts *layouts);
