/* SPDX-License-Identifier: MIT */
/*
 * json.h - writes JSON into a text (text.h), value by value: it adds commas, quotes and closing brackets.
 *
 *	struct hodo_json j = { .text = &text };
 *
 *	hodo_json_object(&j, NULL);           {
 *	hodo_json_u64(&j, "version", 1);      "version":1
 *	hodo_json_array(&j, "events");        ,"events":[
 *	hodo_json_string(&j, NULL, name);     "kv:get"
 *	hodo_json_end(&j);                    ]
 *	hodo_json_end(&j);                    }
 *
 * Compact, with no spaces, and line breaks only from hodo_json_line(). The key is NULL in arrays and at the
 * top. Failures are in text->error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

#define HODO_JSON_DEPTH_MAX 64u

struct hodo_json {
	struct hodo_text *text;
	enum hodo_json_form form;
	/* The rest is private to the writer; initially all zero. */
	bool comma, line;
	unsigned depth;
	uint64_t arrays; /* bit per depth: an array, not an object */
};

void hodo_json_object(struct hodo_json *j, const char *key);
void hodo_json_array(struct hodo_json *j, const char *key);
void hodo_json_end(struct hodo_json *j); /* the innermost object or array */

void hodo_json_string(struct hodo_json *j, const char *key, const char *s); /* NULL: null */
void hodo_json_bytes(struct hodo_json *j, const char *key, const void *s, size_t len);
void hodo_json_u64(struct hodo_json *j, const char *key, uint64_t v);
void hodo_json_i64(struct hodo_json *j, const char *key, int64_t v);
void hodo_json_bool(struct hodo_json *j, const char *key, bool v);
void hodo_json_null(struct hodo_json *j, const char *key);
/* A number, or other JSON, as printf() writes it. Write non-finite numbers as null. */
void hodo_json_printf(struct hodo_json *j, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As "%.DECIMALSf"; null where v is not finite. */
void hodo_json_double(struct hodo_json *j, const char *key, double v, int decimals);

/* Only the comma and the key: the caller adds one value to the returned text. */
struct hodo_text *hodo_json_value(struct hodo_json *j, const char *key);
/* The next value, or the next closing bracket, begins on a new line. */
void hodo_json_line(struct hodo_json *j);
