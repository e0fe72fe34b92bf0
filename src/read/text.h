/* SPDX-License-Identifier: MIT */
/*
 * text.h - numbers and texts as characters.
 *
 * The hodo_put_ functions write at o without a check and return the end: room
 * is made once for a whole event. The limits stand beside each.
 */
#ifndef HODO_READ_TEXT_H
#define HODO_READ_TEXT_H

#include "internal.h"

#include <locale.h>

#define PUT_INTEGER_MAX 21 /* -9223372036854775808, 0xffffffffffffffff */
#define PUT_FLOAT_MAX   26 /* -2.2250738585072014e-308, "-Infinity" */
#define PUT_ESCAPED     6  /* times the bytes of a text, quotes not counted */

struct hodo_read_text {
	char *data;
	size_t len, room;
	locale_t c; /* numbers as in C whatever the program's locale is */
	int64_t second;
	char hms[8];                 /* of second, in local time */
	struct hodo_read_text *mark; /* a mark's text before it is escaped */
};

/* The end of the text, with room for n more bytes; NULL: no memory. */
char *hodo_read_text_reserve(struct hodo_read_text *t, size_t n);

char *hodo_read_put_u64(char *o, uint64_t v);
char *hodo_read_put_i64(char *o, int64_t v);
char *hodo_read_put_hex(char *o, uint64_t v); /* without 0x */
/* The shortest decimal that reads back as the same value. single: it was a float. json: "NaN" in quotes. */
char *hodo_read_put_float(char *o, double v, bool single, bool json, locale_t c);

/* Length of the valid UTF-8 sequence at p, 0 if there is none. */
unsigned hodo_read_utf8(const uint8_t *p, const uint8_t *end);
char *hodo_read_put_json(char *o, const void *s, size_t len); /* without quotes */
char *hodo_read_put_plain(char *o, const void *s, size_t len,
			  bool quoted); /* quoted: " and \ are escaped too */

/* A field's value as in print's lines; room: the payload's bytes * PUT_ESCAPED + 32 + its label's. */
char *hodo_read_put_value(char *o, const struct hodo_read_field *f, const struct hodo_read_value *v,
			  locale_t c);

/* The same in JSON. */
char *hodo_read_put_value_json(char *o, const struct hodo_read_value *v, locale_t c);

/* Appends what stands before an event's fields (context.c), without a newline. 0 or -ENOMEM. */
int hodo_read_add_context(struct hodo_read_text *t, const struct hodo_read_event *e);
int hodo_read_add_context_json(struct hodo_read_text *t, const struct hodo_read_event *e);

#endif
