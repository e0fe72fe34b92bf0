/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <string.h>

static const char digits[16] = "0123456789abcdef";

int hodo_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hodo_hex_bytes(uint8_t *to, size_t max, const char *text)
{
	size_t n = 0;

	for (; text[0]; text += 2, n++) {
		int high = hodo_hex_digit(text[0]), low = hodo_hex_digit(text[1]);

		if (high < 0 || low < 0 || n == max)
			return -1;
		to[n] = (uint8_t)(high << 4 | low);
	}
	return (int)n;
}

char *hodo_format_bytes(char *to, const void *bytes, size_t len)
{
	for (const uint8_t *p = bytes, *end = p + len; p < end; p++) {
		*to++ = digits[*p >> 4];
		*to++ = digits[*p & 15];
	}
	return to;
}

char *hodo_percent_encode(char *to, const char *text, size_t len)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    (c && strchr("._:,/+-[]", c))) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '%';
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	return to;
}

bool hodo_percent_decode(char *text)
{
	bool sound = true;
	char *out = text;

	for (; *text; text++) {
		int high = *text == '%' ? hodo_hex_digit(text[1]) : -1, low = high < 0 ? -1 : hodo_hex_digit(text[2]);
		char c = low < 0 ? *text : (char)(high << 4 | low);

		sound &= c && (low >= 0 || c != '%');
		text += low < 0 ? 0 : 2;
		*out++ = c ? c : '?';
	}
	*out = 0;
	return sound;
}

unsigned hodo_utf8(const uint8_t *p, const uint8_t *end)
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

static uint32_t code_point(const uint8_t *p, unsigned n)
{
	uint32_t code = n == 1 ? *p : *p & 0xffu >> (n + 1);

	for (unsigned i = 1; i < n; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

/*
 * Beyond ASCII: controls, format characters and separators of lines (Unicode's Cc, Cf, Zl, Zp). They are
 * invisible, but end a line, reverse the direction of the text around them, or make different names look the
 * same.
 */
static bool is_unseen(uint32_t code)
{
	static const uint32_t ranges[][2] = {
		{ 0x80, 0x9f },       { 0xad, 0xad },	    { 0x600, 0x605 },	  { 0x61c, 0x61c },
		{ 0x6dd, 0x6dd },     { 0x70f, 0x70f },	    { 0x890, 0x891 },	  { 0x8e2, 0x8e2 },
		{ 0x180e, 0x180e },   { 0x200b, 0x200f },   { 0x2028, 0x202e },	  { 0x2060, 0x206f },
		{ 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },   { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },
		{ 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe007f },
	};

	for (unsigned i = 0; i < sizeof(ranges) / sizeof(*ranges) && ranges[i][0] <= code; i++)
		if (code <= ranges[i][1])
			return true;
	return false;
}

static inline bool is_safe(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* The character after the backslash for c, or 0. */
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
	return hodo_format_bytes(stpcpy(o, prefix), &c, 1);
}

/* \uXXXX; two of them beyond U+FFFF. */
static char *put_code_point(char *o, uint32_t code)
{
	uint32_t above = code - 0x10000, units[2] = { 0xd800 | above >> 10, 0xdc00 | (above & 0x3ff) };
	bool pair = code > 0xffff;

	for (unsigned i = 0; i <= pair; i++) {
		uint32_t unit = pair ? units[i] : code;

		o = put_coded(o, "\\u", (uint8_t)(unit >> 8));
		o = put_coded(o, "", (uint8_t)unit);
	}
	return o;
}

char *hodo_escape_json(char *o, const void *text, size_t len, enum hodo_json_form form)
{
	const uint8_t *p = text, *end = p + len;
	bool script = form == HODO_JSON_SCRIPT;

	while (p < end) {
		unsigned n;
		char e;

		if (is_safe(*p) && !(script && *p == '<')) {
			*o++ = (char)*p++;
			continue;
		}
		n = hodo_utf8(p, end);
		e = script ? 0 : short_escape(*p);
		if (e) {
			*o++ = '\\';
			*o++ = e;
			p++;
		} else if (n > 1 && is_unseen(code_point(p, n))) {
			o = put_code_point(o, code_point(p, n));
			p += n;
		} else if (n > 1) {
			memcpy(o, p, n);
			o += n;
			p += n;
		} else {
			o = put_coded(o, "\\u00", *p++);
		}
	}
	return o;
}

void hodo_mask_unseen(char *text)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
	char *o = text;

	while (p < end) {
		unsigned n = hodo_utf8(p, end);

		if ((n == 1 && *p >= 0x20 && *p < 0x7f) || (n > 1 && !is_unseen(code_point(p, n)))) {
			memmove(o, p, n);
			o += n;
		} else {
			*o++ = '?';
		}
		p += n ? n : 1;
	}
	*o = 0;
}

char *hodo_escape_utf8(char *o, const void *text, size_t len, char doubled)
{
	const uint8_t *p = text, *end = p + len;

	while (p < end) {
		unsigned n;

		if (*p < 0x80) {
			if (*p == doubled && doubled)
				*o++ = doubled;
			*o++ = (char)*p++;
			continue;
		}
		n = hodo_utf8(p, end);
		if (n == 0) {
			*o++ = (char)(0xc0 | *p >> 6);
			*o++ = (char)(0x80 | (*p++ & 0x3f));
			continue;
		}
		memcpy(o, p, n);
		o += n;
		p += n;
	}
	return o;
}

char *hodo_escape_plain(char *o, const void *text, size_t len, bool quoted)
{
	const uint8_t *p = text, *end = p + len;

	while (p < end) {
		unsigned n;
		char e;

		if (is_safe(*p) || (!quoted && (*p == '"' || *p == '\\'))) {
			*o++ = (char)*p++;
			continue;
		}
		n = hodo_utf8(p, end);
		e = short_escape(*p);
		if (e) {
			*o++ = '\\';
			*o++ = e;
			p++;
		} else if (n > 1 && !is_unseen(code_point(p, n))) {
			memcpy(o, p, n);
			o += n;
			p += n;
		} else {
			o = put_coded(o, "\\x", *p++);
		}
	}
	return o;
}

void hodo_printable(char *to, size_t size, const char *s)
{
	for (; *s && size >= 5; s++) {
		char *end = to;

		if (*s >= ' ' && *s < 127)
			*end++ = *s;
		else
			end = put_coded(to, "\\x", (uint8_t)*s);
		size -= (size_t)(end - to);
		to = end;
	}
	if (size > 0)
		*to = 0;
}
