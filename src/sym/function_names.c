/* SPDX-License-Identifier: MIT */
/* function_names.c - what functions are called, and whether two addresses are of the same one. */
#include "recording_symbols.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *hodo_function_name_at(void *symbols, const struct hodo_read_process *process, int64_t ts_ns,
				  uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(symbols, process, ts_ns, address, &place);
	return place.named || place.in_file ? place.name : NULL;
}

bool hodo_function_same(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
			uint64_t a, uint64_t b)
{
	struct hodo_place one, two;

	hodo_symbols_find(symbols, process, ts_ns, a, &one);
	hodo_symbols_find(symbols, process, ts_ns, b, &two);
	return one.id == two.id || !one.named || !two.named;
}

static void find_place(void *symbols, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address,
		       struct hodo_place *place)
{
	hodo_symbols_find(symbols, process, ts_ns, address, place);
}

static bool is_same(void *symbols, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	return hodo_function_same(symbols, process, ts_ns, a, b);
}

struct hodo_places hodo_symbols_places(struct hodo_symbols *symbols)
{
	return symbols ? (struct hodo_places){ symbols, find_place, is_same } : (struct hodo_places){ 0 };
}

bool hodo_function_is(const char *glob, const struct hodo_place *place)
{
	const char *name = place->full;
	size_t len = strlen(name), depth = 0;
	char *part;
	bool is;

	if (fnmatch(glob, name, 0) == 0 || fnmatch(glob, place->name, 0) == 0)
		return true;
	if (!memchr(name, '(', len))
		return false;
	/* Without "(int) const": back to the parenthesis that matches the last one. */
	while (len > 0 && name[len - 1] != ')')
		len--;
	while (len > 0) {
		len--;
		depth += name[len] == ')';
		depth -= name[len] == '(';
		if (depth == 0)
			break;
	}
	part = strndup(name, len);
	is = part && len > 0 && fnmatch(glob, part, 0) == 0;
	free(part);
	return is;
}
