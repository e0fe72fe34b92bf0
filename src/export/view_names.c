/* SPDX-License-Identifier: MIT */
/* view_names.c - each name once: see view_rows.h. */
#include "view_rows.h"

#include <stdlib.h>
#include <string.h>

#define RECENT (sizeof(((struct hodo_view_names *)NULL)->recent) / sizeof(((struct hodo_view_names *)NULL)->recent[0]))

static uint32_t hash_of(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h ^ h >> 15;
}

static bool grow(struct hodo_view_names *names)
{
	uint32_t mask = names->mask ? 2 * names->mask + 1 : 255;
	uint32_t *table = calloc((size_t)mask + 1, sizeof(*table));

	if (!table)
		return false;
	for (uint32_t i = 0; i < names->n; i++) {
		uint32_t at = hash_of(names->text[i]) & mask;

		while (table[at])
			at = (at + 1) & mask;
		table[at] = i + 1;
	}
	free(names->table);
	names->table = table;
	names->mask = mask;
	return true;
}

uint32_t hodo_view_name(struct hodo_view_names *names, const char *text)
{
	uint32_t at;

	if (2 * names->n >= names->mask && !grow(names))
		return UINT32_MAX;
	for (at = hash_of(text) & names->mask; names->table[at]; at = (at + 1) & names->mask)
		if (strcmp(names->text[names->table[at] - 1], text) == 0)
			return names->table[at] - 1;
	if (names->n == names->room) {
		uint32_t room = names->room ? 2 * names->room : 128;
		char **more = reallocarray(names->text, room, sizeof(*more));

		if (!more)
			return UINT32_MAX;
		names->text = more;
		names->room = room;
	}
	names->text[names->n] = strdup(text);
	if (!names->text[names->n])
		return UINT32_MAX;
	names->table[at] = ++names->n;
	return names->n - 1;
}

uint32_t hodo_view_name_fixed(struct hodo_view_names *names, const char *text)
{
	uint32_t at = (uint32_t)((uintptr_t)text * 0x9e3779b97f4a7c15ull >> 40) % RECENT;

	if (names->recent[at].text != text) {
		uint32_t index = hodo_view_name(names, text);

		if (index == UINT32_MAX)
			return index;
		names->recent[at].text = text;
		names->recent[at].index = index;
	}
	return names->recent[at].index;
}

void hodo_view_names_free(struct hodo_view_names *names)
{
	for (uint32_t i = 0; i < names->n; i++)
		free(names->text[i]);
	free(names->text);
	free(names->table);
	memset(names, 0, sizeof(*names));
}
