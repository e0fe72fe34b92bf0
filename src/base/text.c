/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "number.h"

#define ROOM_MIN   256u
#define FLUSH_SIZE (256u << 10)

int hodo_text_flush(struct hodo_text *t)
{
	if (t->write) {
		if (!t->error && t->len > 0)
			t->error = t->write(t->to, t->data, t->len);
		t->written += t->len;
		t->len = 0;
	}
	return t->error;
}

/* One byte more than asked for: hodo_text_string() puts a NUL there. */
char *hodo_text_room_slow(struct hodo_text *t, size_t n)
{
	size_t room = t->room ? t->room : t->write ? FLUSH_SIZE : ROOM_MIN;
	char *data;

	if (t->write && t->room - t->len <= n)
		hodo_text_flush(t);
	if (t->error)
		return NULL;
	while (room - t->len <= n && room <= SIZE_MAX / 4)
		room *= 2;
	data = n > SIZE_MAX / 4 || room > SIZE_MAX / 4 ? NULL : room == t->room ? t->data : realloc(t->data, room);
	if (!data) {
		t->error = -ENOMEM;
		return NULL;
	}
	t->data = data;
	t->room = room;
	return data + t->len;
}

void hodo_text_vprintf(struct hodo_text *t, const char *format, va_list args)
{
	char *to = hodo_text_room(t, 128);
	va_list again;
	int len;

	if (!to)
		return;
	va_copy(again, args);
	len = vsnprintf(to, t->room - t->len, format, args);
	if (len >= 0 && (size_t)len >= t->room - t->len) {
		to = hodo_text_room(t, (size_t)len);
		if (to)
			vsnprintf(to, (size_t)len + 1, format, again);
	}
	va_end(again);
	if (len < 0)
		t->error = -EINVAL;
	else if (to)
		t->len += (size_t)len;
}

void hodo_text_printf(struct hodo_text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hodo_text_vprintf(t, format, args);
	va_end(args);
}

void hodo_text_u64(struct hodo_text *t, uint64_t v)
{
	char *to = hodo_text_room(t, HODO_FORMAT_INTEGER_MAX);

	if (to)
		t->len += (size_t)(hodo_format_u64(to, v) - to);
}

void hodo_text_i64(struct hodo_text *t, int64_t v)
{
	char *to = hodo_text_room(t, HODO_FORMAT_INTEGER_MAX);

	if (to)
		t->len += (size_t)(hodo_format_i64(to, v) - to);
}

void hodo_text_decimal(struct hodo_text *t, int64_t v, unsigned decimals)
{
	char *o = hodo_text_room(t, HODO_FORMAT_INTEGER_MAX + 1);

	if (o)
		t->len += (size_t)(hodo_format_decimal(o, v, decimals) - o);
}

void hodo_text_json(struct hodo_text *t, const void *text, size_t len, enum hodo_json_form form)
{
	char *to = hodo_text_room(t, len > SIZE_MAX / 16 ? SIZE_MAX : len * HODO_ESCAPED_MAX + 2), *at = to;

	if (!to)
		return;
	*at++ = '"';
	at = hodo_escape_json(at, text, len, form);
	*at++ = '"';
	t->len += (size_t)(at - to);
}

void hodo_text_plain(struct hodo_text *t, const void *text, size_t len)
{
	char *to = hodo_text_room(t, len > SIZE_MAX / 16 ? SIZE_MAX : len * HODO_ESCAPED_MAX);

	if (to)
		t->len += (size_t)(hodo_escape_plain(to, text, len, false) - to);
}

const char *hodo_text_string(struct hodo_text *t)
{
	if (t->error || !t->data)
		return "";
	t->data[t->len] = 0;
	return t->data;
}

void hodo_text_free(struct hodo_text *t)
{
	free(t->data);
	*t = (struct hodo_text){ 0 };
}
