/* SPDX-License-Identifier: MIT */
/*
 * text.c - a growing text, and the ways in which foreign names are made harmless.
 */
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hodo_text_free(struct hodo_text *t)
{
	free(t->s);
	memset(t, 0, sizeof(*t));
}

/* Room for extra bytes and a NUL; false if there is none. */
static bool text_reserve(struct hodo_text *t, size_t extra)
{
	size_t cap = t->cap ? t->cap : 256;
	char *s;

	if (t->error)
		return false;
	if (t->cap && extra < t->cap - t->len)
		return true;
	while (cap - t->len <= extra)
		cap *= 2;
	s = realloc(t->s, cap);
	if (!s) {
		t->error = -ENOMEM;
		return false;
	}
	t->s = s;
	t->cap = cap;
	return true;
}

void hodo_text_add_bytes(struct hodo_text *t, const char *s, size_t len)
{
	if (!text_reserve(t, len))
		return;
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = 0;
}

void hodo_text_add(struct hodo_text *t, const char *format, ...)
{
	va_list args, again;
	int len;

	va_start(args, format);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, args);
	if (len < 0)
		t->error = t->error ? t->error : -EINVAL;
	else if (text_reserve(t, (size_t)len))
		t->len += (size_t)vsnprintf(t->s + t->len, t->cap - t->len, format, again);
	va_end(again);
	va_end(args);
}

static bool is_word(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void hodo_text_add_encoded(struct hodo_text *t, const char *s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		char code[3] = { '%', hex[c >> 4], hex[c & 15] };

		if (is_word(c) || strchr(".:,/+-[]", c))
			hodo_text_add_bytes(t, s, 1);
		else
			hodo_text_add_bytes(t, code, 3);
	}
}

void hodo_text_add_quotable(struct hodo_text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\';

		/* No comment may begin or end within, should a reader strip comments first. */
		if ((c == '*' && s[1] == '/') || (c == '/' && (s[1] == '*' || s[1] == '/')))
			plain = false;
		hodo_text_add_bytes(t, plain ? s : "_", 1);
	}
}

void hodo_text_printable(char *to, size_t size, const char *s)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	for (; *s && n + 5 <= size; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= ' ' && c < 127) {
			to[n++] = (char)c;
			continue;
		}
		to[n++] = '\\';
		to[n++] = 'x';
		to[n++] = hex[c >> 4];
		to[n++] = hex[c & 15];
	}
	if (size > 0)
		to[n] = 0;
}

void hodo_text_file_name(char *to, size_t size, const char *s)
{
	size_t n = 0;

	for (; s[n] && n + 1 < size; n++) {
		unsigned char c = (unsigned char)s[n];
		bool plain = is_word(c) || c == '+' || c == '-' || (c == '.' && n > 0);

		to[n] = plain ? (char)c : '_';
	}
	if (n == 0 && size > 1)
		to[n++] = '_';
	if (size > 0)
		to[n] = 0;
}

void hodo_text_identifier(char *s, size_t size)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len; i++)
		if (!is_word((unsigned char)s[i]))
			s[i] = '_';
	if (len == 0 || (s[0] >= '0' && s[0] <= '9')) {
		if (len + 2 > size)
			len = size - 2;
		memmove(s + 1, s, len);
		s[0] = '_';
		s[len + 1] = 0;
	}
}
