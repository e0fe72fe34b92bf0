/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* bounded_text.h - builds short messages where there is no printf, and cuts what does not fit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hodo_bounded {
	char *at;    /* NUL-terminated after each call, if size is not 0 */
	size_t size; /* bytes, the NUL included */
	size_t len;
};

static inline struct hodo_bounded hodo_bounded_to(char *at, size_t size)
{
	if (size)
		*at = '\0';
	return (struct hodo_bounded){ at, size, 0 };
}

static inline void hodo_bounded_bytes(struct hodo_bounded *t, const char *bytes, size_t n)
{
	if (t->len + 1 >= t->size)
		return;
	if (n > t->size - 1 - t->len)
		n = t->size - 1 - t->len;
	memcpy(t->at + t->len, bytes, n);
	t->len += n;
	t->at[t->len] = '\0';
}

/* The core calls no strlen(). */
static inline size_t hodo_bounded_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static inline void hodo_bounded_put(struct hodo_bounded *t, const char *s)
{
	hodo_bounded_bytes(t, s, hodo_bounded_len(s));
}

static inline void hodo_bounded_number(struct hodo_bounded *t, uint64_t v)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	hodo_bounded_bytes(t, digits + n, sizeof(digits) - n);
}

/* Of an identifier. */
static inline bool hodo_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether the n bytes at p are the word. */
static inline bool hodo_bounded_is(const char *p, size_t n, const char *word)
{
	return hodo_bounded_len(word) == n && memcmp(p, word, n) == 0;
}
