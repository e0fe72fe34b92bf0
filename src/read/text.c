/* SPDX-License-Identifier: MIT */
/* text.c - the growing text buffer, and escaping. */
#include "text.h"

#include <errno.h>
#include <stdlib.h>

struct hodo_read_text *hodo_read_text_new(void)
{
	struct hodo_read_text *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->second = INT64_MIN;
	t->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!t->c) {
		free(t);
		return NULL;
	}
	return t;
}

void hodo_read_text_free(struct hodo_read_text *text)
{
	if (!text)
		return;
	hodo_read_text_free(text->mark);
	freelocale(text->c);
	free(text->data);
	free(text);
}

const char *hodo_read_text_data(const struct hodo_read_text *text, size_t *len)
{
	*len = text->len;
	return text->data ? text->data : "";
}

void hodo_read_text_clear(struct hodo_read_text *text)
{
	text->len = 0;
}

char *hodo_read_text_reserve(struct hodo_read_text *t, size_t n)
{
	size_t room = t->room ? t->room : 4096;
	char *data;

	if (t->data && t->room - t->len >= n)
		return t->data + t->len;
	if (n > SIZE_MAX / 4 - t->len)
		return NULL;
	while (room - t->len < n)
		room *= 2;
	data = realloc(t->data, room);
	if (!data)
		return NULL;
	t->data = data;
	t->room = room;
	return data + t->len;
}

/* --------------------------------------------------------------------- escaping */

unsigned hodo_read_utf8(const uint8_t *p, const uint8_t *end)
{
	size_t left = (size_t)(end - p);
	unsigned n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (n > left)
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static inline bool safe(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* The character behind the backslash for c, or 0. */
static char short_escape(uint8_t c)
{
	switch (c) {
	case '"':
	case '\\':
		return (char)c;
	case '\n':
		return 'n';
	case '\t':
		return 't';
	case '\r':
		return 'r';
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	default:
		return 0;
	}
}

static char *put_coded(char *o, const char *prefix, uint8_t c)
{
	o = stpcpy(o, prefix);
	*o++ = "0123456789abcdef"[c >> 4];
	*o++ = "0123456789abcdef"[c & 15];
	return o;
}

char *hodo_read_put_json(char *o, const void *s, size_t len)
{
	const uint8_t *p = s, *end = p + len;

	while (p < end) {
		unsigned n;
		char e;

		if (safe(*p)) {
			*o++ = (char)*p++;
			continue;
		}
		n = hodo_read_utf8(p, end);
		e = short_escape(*p);
		if (e) {
			*o++ = '\\';
			*o++ = e;
			p++;
		} else if (n > 1 || (n == 1 && *p >= 0x20)) {
			memcpy(o, p, n);
			o += n;
			p += n;
		} else {
			o = put_coded(o, "\\u00", *p++);
		}
	}
	return o;
}

char *hodo_read_put_plain(char *o, const void *s, size_t len, bool quoted)
{
	const uint8_t *p = s, *end = p + len;

	while (p < end) {
		unsigned n;
		char e;

		if (safe(*p) || (!quoted && (*p == '"' || *p == '\\'))) {
			*o++ = (char)*p++;
			continue;
		}
		n = hodo_read_utf8(p, end);
		e = short_escape(*p);
		if (e) {
			*o++ = '\\';
			*o++ = e;
			p++;
		} else if (n > 2 || (n == 2 && (p[0] != 0xc2 || p[1] >= 0xa0))) {
			memcpy(o, p, n); /* not the control characters U+0080 to U+009F */
			o += n;
			p += n;
		} else {
			o = put_coded(o, "\\x", *p++);
		}
	}
	return o;
}

int hodo_read_text_json_string(struct hodo_read_text *text, const char *s, size_t len)
{
	char *o = len > SIZE_MAX / 16 ? NULL : hodo_read_text_reserve(text, len * PUT_ESCAPED + 2);

	if (!o)
		return -ENOMEM;
	*o++ = '"';
	o = hodo_read_put_json(o, s, len);
	*o++ = '"';
	text->len = (size_t)(o - text->data);
	return 0;
}

int hodo_read_text_plain(struct hodo_read_text *text, const char *s, size_t len)
{
	char *o = len > SIZE_MAX / 16 ? NULL : hodo_read_text_reserve(text, len * PUT_ESCAPED);

	if (!o)
		return -ENOMEM;
	text->len = (size_t)(hodo_read_put_plain(o, s, len, false) - text->data);
	return 0;
}
