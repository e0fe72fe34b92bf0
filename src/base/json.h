/* SPDX-License-Identifier: MIT */
/*
 * json.h - writes JSON into a text (text.h), value by value: commas, quotes and closing brackets come by themselves.
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
 * Compact, with no space or line break but those asked for by hodo_json_line(). The key is NULL in arrays and at
 * the top. Failures are the text's: text->error.
 */
#ifndef HODO_BASE_JSON_H
#define HODO_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

#define HODO_JSON_DEPTH_MAX 64u

struct hodo_json {
	struct hodo_text *text;
	enum hodo_json_form form;
	/* What follows is the writer's; all zero at first. */
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
/* A number, or what else is JSON already, as printf() writes it. What is not finite must be written as null. */
void hodo_json_printf(struct hodo_json *j, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As "%.DECIMALSf"; null where v is not finite. */
void hodo_json_double(struct hodo_json *j, const char *key, double v, int decimals);

/* The comma and the key alone: the caller adds one value to the text that is returned. */
struct hodo_text *hodo_json_value(struct hodo_json *j, const char *key);
/* The next value, or the next closing bracket, begins on a line of its own. */
void hodo_json_line(struct hodo_json *j);

#endif
