/* SPDX-License-Identifier: MIT */
/* names.c - compares a name in a probe's text with the names of functions. */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <core/symbol_name.h>
#include <core/glob.h>
#include <elf/demangle.h>

#include "spec.h"

/* The last word of a C++ name, which the mangled name contains: "get" of "ns::cache<int>::get(int)". */
static void find_part(struct hodo_probe_name *n)
{
	const char *wanted = n->wanted, *end = wanted + strcspn(wanted, "(<");
	const char *from = end;

	if (n->glob || strstr(wanted, "operator") || strchr(wanted, '~'))
		return;
	while (from > wanted && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
		from--;
	if ((size_t)(end - from) < sizeof(n->part))
		memcpy(n->part, from, (size_t)(end - from));
}

void hodo_probe_name_begin(struct hodo_probe_name *n, const char *wanted, bool whole)
{
	*n = (struct hodo_probe_name){ .wanted = wanted, .whole = whole, .glob = !whole && hodo_spec_is_glob(wanted) };
	find_part(n);
}

/* What does not count here: ABI tags, and spaces if they are free. */
static const char *skip(const char *name, bool spaces)
{
	size_t n;

	while ((n = spaces && *name == ' ' ? 1 : *name == '[' ? hodo_glob_tag(name, strlen(name)) : 0) > 0)
		name += n;
	return name;
}

static bool is_same(const char *a, const char *b, bool spaces)
{
	for (;; a++, b++) {
		a = skip(a, spaces);
		b = skip(b, spaces);
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

/* Whether the name is wanted. */
static bool is(const struct hodo_probe_name *n, const char *name)
{
	if (n->glob)
		return hodo_glob_name(n->wanted, strlen(n->wanted), name, strlen(name));
	return is_same(n->wanted, name, n->whole || strchr(n->wanted, ' '));
}

/* Whether the name or its short form is wanted. */
static bool is_either(const struct hodo_probe_name *n, const char *name)
{
	HODO_AUTO_FREE char *brief = NULL;
	size_t len;

	if (!name || is(n, name))
		return name;
	len = strlen(name);
	brief = malloc(len + 1);
	if (!brief)
		return false;
	brief[hodo_brief_name(name, len, brief)] = 0;
	return is(n, brief);
}

/* f.cold, f.part.0: only a part of f. */
static bool is_part(const char *name, size_t whole)
{
	return strstr(name + whole, ".cold") || strstr(name + whole, ".part");
}

bool hodo_probe_name_match(const struct hodo_probe_name *n, const char *symbol)
{
	HODO_AUTO_FREE char *full = NULL;
	HODO_AUTO_FREE char *original = NULL;
	size_t len = strlen(symbol), whole = hodo_symbol_whole_name(symbol);
	bool mangled = symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');

	if (!n->whole && is(n, symbol))
		return true;
	if (whole < len && is_part(symbol, whole))
		return false;
	if (!n->whole && whole < len && !mangled) {
		original = strndup(symbol, whole);
		return original && is(n, original);
	}
	if (!mangled || !strstr(symbol, n->part))
		return false;
	full = hodo_elf_demangle(symbol);
	if (is_either(n, full))
		return true;
	for (unsigned templates = 0; templates < 2 && !n->whole; templates++) {
		HODO_AUTO_FREE char *brief = hodo_elf_demangle_short(symbol, templates);

		if (is_either(n, brief))
			return true;
	}
	return false;
}

bool hodo_probe_name_match_function(const struct hodo_probe_name *n, const struct hodo_elf_symbols *s, uint32_t first,
			       const char **name)
{
	uint32_t next = hodo_elf_symbols_next(s, first);

	for (uint32_t i = first; i < next; i++)
		if (hodo_probe_name_match(n, s->list[i].name)) {
			*name = s->list[i].name;
			return true;
		}
	return false;
}
