/* SPDX-License-Identifier: MIT */
/* strings.c - see strings.h. */
#define _GNU_SOURCE
#include "strings.h"

#include <hodo/read.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return h ^ h >> 32;
}

static bool grow(struct hodo_strings *s)
{
	uint32_t room = s->room ? s->room * 2 : 128, mask = 2 * room - 1;
	char **text = reallocarray(s->text, room, sizeof(*text));
	uint32_t *slots = calloc((size_t)mask + 1, sizeof(*slots));

	if (text)
		s->text = text;
	if (!text || !slots) {
		free(slots);
		return false;
	}
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t h = hash_of(text[i], strlen(text[i]));

		while (slots[h & mask])
			h++;
		slots[h & mask] = i + 1;
	}
	free(s->slots);
	s->slots = slots;
	s->mask = mask;
	s->room = room;
	return true;
}

static uint32_t add(struct hodo_strings *s, const char *text, size_t len)
{
	uint64_t h = hash_of(text, len);
	char *copy;

	if (s->n == s->room && !grow(s))
		return HODO_STRINGS_NONE;
	for (uint32_t i; (i = s->slots[h & s->mask]) != 0; h++)
		if (strncmp(s->text[i - 1], text, len) == 0 && s->text[i - 1][len] == 0)
			return i - 1;
	copy = strndup(text, len);
	if (!copy)
		return HODO_STRINGS_NONE;
	s->text[s->n] = copy;
	s->slots[h & s->mask] = ++s->n;
	return s->n - 1;
}

uint32_t hodo_strings_add(struct hodo_strings *s, const char *text)
{
	return add(s, text, strlen(text));
}

uint32_t hodo_strings_add_plain(struct hodo_strings *s, const char *text)
{
	const char *plain;
	size_t len;

	if (!s->plain)
		s->plain = hodo_read_text_new();
	if (!s->plain)
		return HODO_STRINGS_NONE;
	hodo_read_text_clear(s->plain);
	if (hodo_read_text_plain(s->plain, text, strlen(text)) < 0)
		return HODO_STRINGS_NONE;
	plain = hodo_read_text_data(s->plain, &len);
	return add(s, plain, len);
}

void hodo_strings_free(struct hodo_strings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->text[i]);
	free(s->text);
	free(s->slots);
	hodo_read_text_free(s->plain);
	*s = (struct hodo_strings){ 0 };
}
