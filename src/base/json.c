/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>


struct hodo_text *hodo_json_value(struct hodo_json *j, const char *key)
{
	size_t len = key ? strlen(key) : 0;
	char *start = hodo_text_room(j->text, len * HODO_ESCAPED_MAX + 5), *o = start;

	if (!o)
		return j->text;
	if (j->comma)
		*o++ = ',';
	if (j->line)
		*o++ = '\n';
	if (key) {
		*o++ = '"';
		o = hodo_escape_json(o, key, len, j->form);
		*o++ = '"';
		*o++ = ':';
	}
	j->text->len += (size_t)(o - start);
	j->comma = true;
	j->line = false;
	return j->text;
}

static void open_bracket(struct hodo_json *j, const char *key, bool array)
{
	hodo_text_char(hodo_json_value(j, key), array ? '[' : '{');
	if (j->depth == HODO_JSON_DEPTH_MAX) {
		j->text->error = j->text->error ? j->text->error : -EOVERFLOW;
		return;
	}
	j->arrays = (j->arrays & ~(1ull << j->depth)) | (uint64_t)array << j->depth;
	j->depth++;
	j->comma = false;
}

void hodo_json_object(struct hodo_json *j, const char *key)
{
	open_bracket(j, key, false);
}

void hodo_json_array(struct hodo_json *j, const char *key)
{
	open_bracket(j, key, true);
}

void hodo_json_end(struct hodo_json *j)
{
	if (j->line)
		hodo_text_char(j->text, '\n');
	j->line = false;
	if (j->depth > 0)
		hodo_text_char(j->text, j->arrays >> --j->depth & 1 ? ']' : '}');
	j->comma = j->depth > 0;
}

void hodo_json_bytes(struct hodo_json *j, const char *key, const void *s, size_t len)
{
	hodo_text_json(hodo_json_value(j, key), s, len, j->form);
}

void hodo_json_string(struct hodo_json *j, const char *key, const char *s)
{
	if (s)
		hodo_json_bytes(j, key, s, strlen(s));
	else
		hodo_json_null(j, key);
}

void hodo_json_u64(struct hodo_json *j, const char *key, uint64_t v)
{
	hodo_text_u64(hodo_json_value(j, key), v);
}

void hodo_json_i64(struct hodo_json *j, const char *key, int64_t v)
{
	hodo_text_i64(hodo_json_value(j, key), v);
}

void hodo_json_bool(struct hodo_json *j, const char *key, bool v)
{
	hodo_text_add(hodo_json_value(j, key), v ? "true" : "false");
}

void hodo_json_null(struct hodo_json *j, const char *key)
{
	hodo_text_add(hodo_json_value(j, key), "null");
}

void hodo_json_printf(struct hodo_json *j, const char *key, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hodo_text_vprintf(hodo_json_value(j, key), format, args);
	va_end(args);
}

void hodo_json_double(struct hodo_json *j, const char *key, double v, int decimals)
{
	if (isfinite(v))
		hodo_json_printf(j, key, "%.*f", decimals, v);
	else
		hodo_json_null(j, key);
}

void hodo_json_line(struct hodo_json *j)
{
	j->line = true;
}
