/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/vec.h>
#include <core/ring.h>

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
		free(layouts->event[i]);
	free(layouts->event);
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

	if (hodo_vec_reserve(l->fixed, n, id + 1) < 0 || hodo_vec_reserve(l->event, both, id + 1) < 0)
		return -ENOMEM;
	memset(l->fixed + l->n, 0, (n - l->n) * sizeof(*l->fixed));
	memset(l->event + l->n, 0, (n - l->n) * sizeof(*l->event));
	l->n = n;
	return 0;
}

/* Whether the fields are an address and its frame, as in a call's record. */
static bool are_calls(const uint8_t *types, uint32_t nfields)
{
	return nfields == 2 && types[0] == HODO_TYPE_PTR && types[1] == HODO_TYPE_U32;
}

static bool has_calls(const struct hodo_read_layouts *l, uint32_t id)
{
	return hodo_layouts_have(l, id) && are_calls(l->event[id]->types, l->event[id]->nfields);
}

int hodo_read_layouts_calls(struct hodo_read_layouts *layouts, uint32_t entry, uint32_t exit)
{
	if (!layouts || !has_calls(layouts, entry) || !has_calls(layouts, exit))
		return -EINVAL;
	layouts->call[HODO_FORM_CALL] = entry;
	layouts->call[HODO_FORM_RETURN] = exit;
	return 0;
}

int hodo_read_layouts_add(struct hodo_read_layouts *layouts, uint32_t id, const uint8_t *types,
			  uint32_t nfields)
{
	struct hodo_event_layout event = { .nfields = nfields }, *kept;

	if (!layouts || id == 0 || id >= HODO_EVENTS_MAX || (nfields && !types) ||
	    hodo_payload_init(&event.payload, types, nfields) < 0)
		return -EINVAL;
	if (nfields)
		memcpy(event.types, types, nfields);
	if (hodo_layouts_have(layouts, id))
		return memcmp(layouts->event[id]->types, event.types, sizeof(event.types)) == 0 ? 0 : -EEXIST;
	if (id >= layouts->n && make_room(layouts, id) < 0)
		return -ENOMEM;
	kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = event;
	layouts->event[id] = kept;
	layouts->fixed[id] = event.payload.variables ? 0 : HODO_EVENT_HEADER + event.payload.fixed[0];
	return 0;
}

void hodo_layouts_note_call(struct hodo_read_layouts *layouts, uint32_t id, uint32_t kind, const char *name,
			    const uint8_t *types, uint32_t nfields)
{
	if (kind != HODO_KIND_FUNCTION || !are_calls(types, nfields))
		return;
	if (strcmp(name, "func:entry") == 0)
		layouts->call[HODO_FORM_CALL] = id;
	else if (strcmp(name, "func:exit") == 0)
		layouts->call[HODO_FORM_RETURN] = id;
}

/* Read once: the memory may be shared with a hostile process. */
static uint64_t word_at(const uint8_t *p)
{
	return ((const volatile struct unaligned64 *)p)->v;
}

/* The first word of the record at p, as far as there are bytes. */
static inline uint64_t first_word(const uint8_t *p, uint64_t room)
{
	uint64_t word = 0;

	if (room >= sizeof(word))
		return word_at(p);
	if (room)
		memcpy(&word, p, room);
	return word;
}

/* Bytes of the record; 0: not a record. Like hodo_layouts_size_at(), for a word that is read once. */
static inline uint64_t size_of(const struct hodo_read_layouts *l, uint64_t word, const uint8_t *p, uint64_t room)
{
	uint64_t form = word & HODO_FORM_MASK;

	if (room < HODO_EVENT_HEADER)
		return HODO_EVENT_HEADER;
	if (form == HODO_FORM_EVENT)
		return word & HODO_EVENT_UNUSED ? 0 : hodo_layouts_size(l, hodo_event_id(word), p, room);
	if (form == HODO_FORM_ANCHOR)
		return HODO_ANCHOR_BYTES;
	return word && l->call[form] ? HODO_CALL_BYTES : 0;
}

void hodo_layouts_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, size_t bytes,
		       uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t events_max,
		       struct hodo_walked *walked)
{
	struct hodo_cursor cursor = hodo_cursor_begin(timestamp_begin);
	const uint8_t *p = body, *end = p + bytes;
	struct hodo_walked w = { .walk.stop = HODO_READ_STOP_END };

	while (p < end) {
		uint64_t room = (uint64_t)(end - p), word = first_word(p, room), size = size_of(layouts, word, p, room);
		bool anchor = (word & HODO_FORM_MASK) == HODO_FORM_ANCHOR;
		uint64_t time = anchor ? word & ~3ull : hodo_cursor_time(&cursor, word);

		if (__builtin_expect(size == 0 || size > room, 0)) {
			w.walk.stop = size ? HODO_READ_STOP_SHORT : HODO_READ_STOP_ID;
			break;
		}
		if (__builtin_expect(time > timestamp_limit || time < cursor.time, 0)) {
			w.walk.stop = HODO_READ_STOP_TIME;
			break;
		}
		if (__builtin_expect(anchor, 0)) {
			uint64_t next = first_word(p + size, room - size);

			if (room - size >= HODO_EVENT_HEADER && ((next ^ word) & HODO_TIME_MASK) == 0) {
				w.anchor_bytes = (size_t)(p - body);
				w.anchor_events = w.walk.events;
			}
			hodo_cursor_anchor(&cursor, word, word_at(p + 8));
		} else if (__builtin_expect(!cursor.anchored || w.walk.events >= events_max, 0)) {
			w.walk.stop = cursor.anchored ? HODO_READ_STOP_END : HODO_READ_STOP_ID;
			break;
		} else {
			cursor.time = time;
			w.walk.events++;
		}
		p += size;
	}
	w.walk.bytes = (size_t)(p - body);
	w.walk.timestamp_last = cursor.time > timestamp_begin ? cursor.time : timestamp_begin;
	w.cursor = cursor;
	*walked = w;
}

int hodo_read_walk(const struct hodo_read_layouts *layouts, const void *body, size_t bytes,
		   uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t events_max,
		   struct hodo_read_walk *walk)
{
	struct hodo_walked walked;

	if (!layouts || !walk || (!body && bytes))
		return -EINVAL;
	hodo_layouts_walk(layouts, body, bytes, timestamp_begin, timestamp_limit, events_max, &walked);
	*walk = walked.walk;
	return 0;
}

/* ------------------------------------------------------------------------ short objects */

#define PLACE_BITS 14 /* addresses of 16 KiB share a place in shorts->near */

static bool has(const struct hodo_short *o, uint64_t bits, uint64_t ticks, uint64_t *address)
{
	*address = o->start + ((bits - o->start) & (HODO_SHORT_SPAN - 1));
	return *address < o->end && ticks >= o->from && ticks < o->until;
}

uint64_t hodo_read_shorts_address(struct hodo_shorts *shorts, uint64_t bits, uint64_t ticks)
{
	uint32_t *near = &shorts->near[bits >> PLACE_BITS & (sizeof(shorts->near) / sizeof(*shorts->near) - 1)];
	uint64_t address;

	if (*near < shorts->n && has(&shorts->object[*near], bits, ticks, &address))
		return address;
	for (uint32_t i = 0; i < shorts->n; i++) {
		if (has(&shorts->object[i], bits, ticks, &address)) {
			*near = i;
			return address;
		}
	}
	return bits;
}
