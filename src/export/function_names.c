/* SPDX-License-Identifier: MIT */
/* function_names.c - see function_names.h. */
#define _GNU_SOURCE
#include "function_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool is_named(const struct hodo_place *place)
{
	return strncmp(place->name, "0x", 2) != 0;
}

const char *hodo_function_name_at(void *symbols, const struct hodo_read_process *process, int64_t ts_ns,
				  uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(symbols, process, ts_ns, address, &place);
	return is_named(&place) ? place.name : NULL;
}

bool hodo_function_same(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
			uint64_t a, uint64_t b)
{
	struct hodo_place one, two;

	hodo_symbols_find(symbols, process, ts_ns, a, &one);
	hodo_symbols_find(symbols, process, ts_ns, b, &two);
	return one.id == two.id || !is_named(&one) || !is_named(&two);
}

bool hodo_function_is(const char *glob, const char *name)
{
	size_t len = strlen(name), depth = 0;
	char *part;
	bool is;

	if (fnmatch(glob, name, 0) == 0)
		return true;
	if (!memchr(name, '(', len))
		return false;
	/* Without "(int) const": back to the parenthesis that the last one closes. */
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
