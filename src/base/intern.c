/* SPDX-License-Identifier: MIT */
#include "intern.h"

#include "text.h"

uint32_t hodo_strings_add_bytes(struct hodo_strings *s, const char *text, size_t len)
{
	const struct hodo_bytes *entry;

	s->map.entry_bytes = sizeof(*entry); /* all zero is an empty one, too */
	entry = hodo_map_add_bytes(&s->map, text, len, NULL);
	return entry ? hodo_map_index(&s->map, entry) : HODO_STRINGS_NONE;
}

uint32_t hodo_strings_add(struct hodo_strings *s, const char *text)
{
	return hodo_strings_add_bytes(s, text, strlen(text));
}

uint32_t hodo_strings_add_plain(struct hodo_strings *s, const char *text)
{
	struct hodo_text plain = { 0 };
	uint32_t number;

	hodo_text_plain(&plain, text, strlen(text));
	number = plain.error ? HODO_STRINGS_NONE : hodo_strings_add_bytes(s, hodo_text_string(&plain), plain.len);
	hodo_text_free(&plain);
	return number;
}

uint32_t hodo_strings_add_fixed(struct hodo_strings *s, const char *text)
{
	struct fixed {
		uint64_t address;
		uint32_t number;
	} *fixed;
	bool is_new;

	if (!s->fixed.entry_bytes)
		s->fixed = (struct hodo_map)HODO_MAP(struct fixed, address);
	fixed = hodo_map_add_u64(&s->fixed, (uintptr_t)text, &is_new);
	if (fixed && is_new)
		fixed->number = hodo_strings_add(s, text);
	return fixed ? fixed->number : HODO_STRINGS_NONE;
}

void hodo_strings_free(struct hodo_strings *s)
{
	hodo_map_free(&s->fixed);
	hodo_map_free(&s->map);
}
