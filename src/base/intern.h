/* SPDX-License-Identifier: MIT */
/* intern.h - strings stored once and numbered from 0 in the order of their first use. */
#pragma once

#include "map.h"

#define HODO_STRINGS_NONE UINT32_MAX

/* All zero is none. */
struct hodo_strings {
	struct hodo_map map;   /* map.n: how many there are */
	struct hodo_map fixed; /* numbers by address, of hodo_strings_add_fixed() */
};

/* The number of a string, which may be new; NONE: no memory. */
uint32_t hodo_strings_add(struct hodo_strings *s, const char *text);
uint32_t hodo_strings_add_bytes(struct hodo_strings *s, const char *text, size_t len);
/* Escaped first: no control characters, and UTF-8 only (escape.h). */
uint32_t hodo_strings_add_plain(struct hodo_strings *s, const char *text);
/* For a text that neither moves nor changes: fast if it occurs repeatedly. */
uint32_t hodo_strings_add_fixed(struct hodo_strings *s, const char *text);
/* The string with a number; it does not move, and ends with a NUL. */
static inline const char *hodo_strings_at(const struct hodo_strings *s, uint32_t number)
{
	return ((const struct hodo_bytes *)s->map.entries)[number].data;
}
void hodo_strings_free(struct hodo_strings *s);
