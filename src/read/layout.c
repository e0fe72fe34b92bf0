/* SPDX-License-Identifier: MIT */
/* layout.c - sizes of events by id, and the walk over the events of a packet. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#include <core/fields.h>

struct unaligned16 {
	uint16_t v;
} __attribute__((packed));
struct unaligned32 {
	uint32_t v;
} __attribute__((packed));
struct unaligned64 {
	uint64_t v;
} __attribute__((packed));

struct hodo_read_layouts *hodo_read_layouts_new(void)
{
	return calloc(1, sizeof(struct hodo_read_layouts));
}

void hodo_read_layouts_free(struct hodo_read_layouts *layouts)
{
	if (!layouts)
		return;
	for (uint32_t i = 0; i < layouts->n; i++)
		free(layouts->var[i]);
	free(layouts->var);
	free(layouts->fixed);
	free(layouts);
}

static int make_room(struct hodo_read_layouts *l, uint32_t id)
{
	uint32_t n = l->n ? l->n : 64;
	uint32_t *fixed;
	struct hodo_layout_var **var;

	while (n <= id)
		n *= 2;
	fixed = realloc(l->fixed, n * sizeof(*fixed));
	if (!fixed)
		return -ENOMEM;
	l->fixed = fixed;
	var = realloc(l->var, n * sizeof(*var));
	if (!var)
		return -ENOMEM;
	l->var = var;
	memset(fixed + l->n, 0, (n - l->n) * sizeof(*fixed));
	memset(var + l->n, 0, (n - l->n) * sizeof(*var));
	l->n = n;
	return 0;
}

int hodo_read_layouts_add(struct hodo_read_layouts *layouts, uint32_t id, const uint8_t *types,
			  uint32_t nfields)
{
	struct hodo_layout_var *v;
	uint16_t skip = 0;

	if (!layouts || id == 0 || id >= HODO_EVENTS_MAX || nfields > LAYOUT_FIELDS_MAX || (nfields && !types))
		return -EINVAL;
	for (uint32_t i = 0; i < nfields; i++)
		if (!hodo_fields_fixed_size(types[i]))
			return -EINVAL;
	if (id < layouts->n && layouts->var[id]) {
		v = layouts->var[id];
		return v->nfields == nfields && memcmp(v->types, types, nfields) == 0 ? 0 : -EEXIST;
	}
	if (id >= layouts->n && make_room(layouts, id) < 0)
		return -ENOMEM;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->nfields = (uint8_t)nfields;
	for (uint32_t i = 0; i < nfields; i++) {
		unsigned element = hodo_fields_element_size(types[i]);
		unsigned bytes = hodo_fields_fixed_size(types[i]);

		v->types[i] = types[i];
		if (!element) {
			skip = (uint16_t)(skip + bytes);
			continue;
		}
		v->var[v->nvar].skip = skip;
		v->var[v->nvar].length_bytes = (uint8_t)bytes;
		v->var[v->nvar].element_bytes = (uint8_t)element;
		v->nvar++;
		skip = 0;
	}
	v->tail = skip;
	layouts->var[id] = v;
	layouts->fixed[id] = v->nvar ? 0 : HODO_EVENT_HEADER + skip;
	return 0;
}

size_t hodo_read_layout_var_size(const struct hodo_layout_var *l, const uint8_t *p, size_t room)
{
	size_t at = HODO_EVENT_HEADER;

	for (unsigned i = 0; i < l->nvar; i++) {
		size_t len_bytes = l->var[i].length_bytes;
		uint64_t len;

		at += l->var[i].skip;
		if (at + len_bytes > room)
			return at + len_bytes;
		/* Read once: the memory may be shared with a hostile process. */
		if (len_bytes == sizeof(uint16_t))
			len = ((const volatile struct unaligned16 *)(p + at))->v;
		else
			len = ((const volatile struct unaligned32 *)(p + at))->v;
		at += len_bytes;
		at += (size_t)len * l->var[i].element_bytes; /* at most LAYOUT_FIELDS_MAX * 2^32 * 8: no overflow */
		if (at > room)
			return at;
	}
	return at + l->tail;
}

int hodo_read_walk(const struct hodo_read_layouts *layouts, const void *body, size_t bytes,
		   uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t events_max,
		   struct hodo_read_walk *walk)
{
	const uint8_t *p = body, *end = p + bytes;
	uint64_t last = timestamp_begin, events = 0;
	enum hodo_read_stop stop = HODO_READ_STOP_END;

	if (!layouts || !walk || (!body && bytes))
		return -EINVAL;
	for (; p < end && events < events_max; events++) {
		size_t room = (size_t)(end - p), size;
		uint64_t word, time;
		uint32_t id;

		if (room < HODO_EVENT_HEADER) {
			stop = HODO_READ_STOP_SHORT;
			break;
		}
		word = ((const volatile struct unaligned64 *)p)->v;
		id = (uint16_t)word;
		if (id >= layouts->n || !layouts->var[id]) {
			stop = HODO_READ_STOP_ID;
			break;
		}
		size = layouts->fixed[id];
		if (!size)
			size = hodo_read_layout_var_size(layouts->var[id], p, room);
		if (size > room) {
			stop = HODO_READ_STOP_SHORT;
			break;
		}
		time = last + (((word >> 16) - last) & TIMESTAMP_MASK);
		if (time > timestamp_limit || time < last) {
			stop = HODO_READ_STOP_TIME;
			break;
		}
		last = time;
		p += size;
	}
	walk->events = events;
	walk->bytes = (size_t)(p - (const uint8_t *)body);
	walk->timestamp_last = last;
	walk->stop = stop;
	return 0;
}
