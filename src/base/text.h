/* SPDX-License-Identifier: MIT */
/*
 * text.h - text built piece by piece: kept completely in memory, or written out as it grows.
 *
 * The functions that add return nothing: the first failure stays in `error`, and later additions are dropped,
 * so that it only needs to be checked once, at the end.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "escape.h"

/* All zero is an empty text kept in memory. */
struct hodo_text {
	char *data; /* len bytes; NULL at first; see hodo_text_string() */
	size_t len, room;
	int error; /* 0, or the negative errno of the first failure */
	/*
	 * Writes the text out, 256 KiB at a time; NULL: it is kept. Writes all len bytes, or returns a
	 * negative errno.
	 */
	int (*write)(void *to, const void *data, size_t len);
	void *to;
	uint64_t written; /* what has been passed to write() */
};

#define HODO_TEXT_TO(write_function, where) { .write = (write_function), .to = (where) }

/* Where to write the next n bytes; then add n to t->len. NULL: t->error is set. */
char *hodo_text_room_slow(struct hodo_text *t, size_t n);
static inline char *hodo_text_room(struct hodo_text *t, size_t n)
{
	return n < t->room - t->len && !t->error ? t->data + t->len : hodo_text_room_slow(t, n);
}

static inline void hodo_text_fail(struct hodo_text *t, int error)
{
	if (!t->error)
		t->error = error;
}

static inline void hodo_text_bytes(struct hodo_text *t, const void *bytes, size_t len)
{
	char *to = hodo_text_room(t, len);

	if (to && len > 0) {
		memcpy(to, bytes, len);
		t->len += len;
	}
}

static inline void hodo_text_add(struct hodo_text *t, const char *string)
{
	hodo_text_bytes(t, string, strlen(string));
}

static inline void hodo_text_char(struct hodo_text *t, char c)
{
	hodo_text_bytes(t, &c, 1);
}

void hodo_text_printf(struct hodo_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hodo_text_vprintf(struct hodo_text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void hodo_text_u64(struct hodo_text *t, uint64_t v); /* decimal */
void hodo_text_i64(struct hodo_text *t, int64_t v);
void hodo_text_decimal(struct hodo_text *t, int64_t v, unsigned decimals); /* number.h */
/* Escaped (escape.h); the JSON string with its quotes. */
void hodo_text_json(struct hodo_text *t, const void *text, size_t len, enum hodo_json_form form);
void hodo_text_plain(struct hodo_text *t, const void *text, size_t len);

/* The kept text, followed by a NUL; "" if there is none, or after a failure. Valid until more is added. */
const char *hodo_text_string(struct hodo_text *t);
/* Writes out what is left. 0, or the first failure's negative errno. */
int hodo_text_flush(struct hodo_text *t);
void hodo_text_free(struct hodo_text *t); /* all zero then */
