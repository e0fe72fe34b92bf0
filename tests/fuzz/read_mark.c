/* SPDX-License-Identifier: MIT */
/*
 * read_mark.c - a mark with any format and any values.
 *
 * Input: the number of fields, their types, the payload's length (16 bits), the
 * payload, and the rest is the format.
 */
#include <lib/recordings/help.h>

#include <base/arena.h>
#include <lib/fuzz.h>
#include <read/file/class.h>

#define HEAD_BYTES (RECORD_ANCHOR_BYTES + RECORD_EVENT_BYTES)

static const uint8_t *take(const uint8_t **data, size_t *len, size_t n)
{
	const uint8_t *p = *data;

	if (n > *len)
		return NULL;
	*data += n;
	*len -= n;
	return p;
}

static void print(struct hodo_class *c, const uint8_t *payload, size_t bytes)
{
	struct hodo_read_value values[HODO_FIELDS_MAX];
	struct hodo_read_event e = { .size = sizeof(e), .comm = "comm", .cls = &c->pub, .values = values };
	struct hodo_read_text *t = hodo_read_text_new();

	e.payload = payload;
	e.payload_bytes = (uint32_t)bytes;
	hodo_read_class_values(c, e.payload, values);
	for (c->pub.kind = HODO_KIND_EVENT; c->pub.kind <= HODO_KIND_MARK; c->pub.kind++)
		if (hodo_read_text_line(t, &e, 0) < 0 || hodo_read_text_json(t, &e) < 0)
			abort();
	hodo_read_text_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[HODO_FIELDS_MAX] = { "a", "b", "c", "d", "e", "f", "g", "h",
							    "i", "j", "k", "l", "m", "n", "o", "p",
							    "q", "r", "s", "t", "u", "v", "w", "x",
							    "y", "z", "A", "B", "C", "D", "E", "F" };
	struct hodo_class *c = calloc(1, sizeof(*c));
	struct hodo_arena memory = { 0 };
	struct hodo_read_layouts *l = hodo_read_layouts_new();
	const uint8_t *p = take(&data, &len, 1), *types, *payload;
	size_t nfields = p ? *p % (HODO_FIELDS_MAX + 1u) : 0, bytes;
	struct hodo_read_walk walk;
	uint8_t *event = NULL;
	char *format = NULL;

	types = take(&data, &len, nfields);
	p = types ? take(&data, &len, 2) : NULL;
	bytes = p ? (size_t)(p[0] | p[1] << 8) : 0;
	payload = p ? take(&data, &len, bytes) : NULL;
	if (payload && hodo_read_layouts_add(l, 1, types, (uint32_t)nfields) == 0) {
		size_t head;

		event = calloc(1, HEAD_BYTES + bytes);
		head = record_anchor(event, 0, 1, 0);
		record_event(event + head, 1, 0);
		memcpy(event + HEAD_BYTES, payload, bytes);
		format = strndup((const char *)data, len);
		c->pub.format = format;
		c->pub.name = "fuzz:mark";
		c->pub.nfields = (uint32_t)nfields;
		c->pub.fields = c->fields;
		for (size_t i = 0; i < nfields; i++) {
			c->types[i] = types[i];
			c->fields[i].type = types[i];
			c->fields[i].name = names[i];
		}
		if (hodo_read_walk(l, event, HEAD_BYTES + bytes, 0, 1, 1, &walk) == 0 &&
		    walk.events == 1 && hodo_read_class_finish(&memory, c) == 0)
			print(c, event + HEAD_BYTES, walk.bytes - HEAD_BYTES);
	}
	free(format);
	free(event);
	hodo_arena_free(&memory);
	free(c);
	hodo_read_layouts_free(l);
	return 0;
}
