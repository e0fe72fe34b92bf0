/* SPDX-License-Identifier: MIT */
/* out.c - see out.h. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (256u << 10)

void hodo_export_out_init(struct hodo_export_out *out, int (*write)(void *data, const void *bytes, size_t len),
			  void *data)
{
	*out = (struct hodo_export_out){ .write = write, .data = data };
}

int hodo_export_flush(struct hodo_export_out *out)
{
	if (!out->error && out->len > 0)
		out->error = out->write(out->data, out->buffer, out->len);
	out->len = 0;
	return out->error;
}

char *hodo_export_room(struct hodo_export_out *out, size_t len)
{
	if (out->room - out->len < len)
		hodo_export_flush(out);
	if (out->room < len) {
		size_t room = len > BUFFER_BYTES ? len : BUFFER_BYTES;
		char *more = realloc(out->buffer, room);

		if (!more) {
			out->error = out->error ? out->error : -ENOMEM;
			return NULL;
		}
		out->buffer = more;
		out->room = room;
	}
	return out->error ? NULL : out->buffer + out->len;
}

void hodo_export_took(struct hodo_export_out *out, size_t len)
{
	out->len += len;
	out->written += len;
}

void hodo_export_put(struct hodo_export_out *out, const void *bytes, size_t len)
{
	char *to = len > 0 ? hodo_export_room(out, len) : NULL;

	if (to) {
		memcpy(to, bytes, len);
		hodo_export_took(out, len);
	}
}

void hodo_export_puts(struct hodo_export_out *out, const char *text)
{
	hodo_export_put(out, text, strlen(text));
}

void hodo_export_printf(struct hodo_export_out *out, const char *format, ...)
{
	va_list args;
	char *to;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	to = len > 0 ? hodo_export_room(out, (size_t)len + 1) : NULL;
	if (!to)
		return;
	va_start(args, format);
	vsnprintf(to, (size_t)len + 1, format, args);
	va_end(args);
	hodo_export_took(out, (size_t)len);
}

void hodo_export_put_u64(struct hodo_export_out *out, uint64_t value)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	hodo_export_put(out, p, (size_t)(digits + sizeof(digits) - p));
}

void hodo_export_put_i64(struct hodo_export_out *out, int64_t value)
{
	if (value < 0)
		hodo_export_put(out, "-", 1);
	hodo_export_put_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Bytes of the UTF-8 character at s, 0 if there is none. */
static size_t utf8(const unsigned char *s, size_t len)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than need be, surrogates, above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

void hodo_export_put_json(struct hodo_export_out *out, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t plain = 0;

	hodo_export_put(out, "\"", 1);
	for (size_t i = 0; i < len;) {
		size_t n = utf8(s + i, len - i);

		/* "<": the text may come to stand within a script of a page. */
		if (n > 1 || (n == 1 && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] != '<' && s[i] != 0x7f)) {
			i += n;
			continue;
		}
		hodo_export_put(out, text + plain, i - plain);
		hodo_export_printf(out, "\\u%04x", s[i]);
		plain = ++i;
	}
	hodo_export_put(out, text + plain, len - plain);
	hodo_export_put(out, "\"", 1);
}

void hodo_export_out_free(struct hodo_export_out *out)
{
	free(out->buffer);
	out->buffer = NULL;
	out->len = out->room = 0;
}
