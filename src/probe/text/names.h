/* SPDX-License-Identifier: MIT */
/* names.h - which functions a name in a probe's text matches: those of the symbol tables, by any of their
 * names, C++ names with or without parameters, in full or short (core/symbol_name.h), and with * ? [...]. */
#pragma once

#include <elf/symbols.h>

struct hodo_probe_name {
	const char *wanted;
	bool glob;
	bool whole;      /* only the C++ name with parameters */
	char part[64];   /* a part of its mangled names; "": not known */
};

void hodo_probe_name_begin(struct hodo_probe_name *n, const char *wanted, bool whole);
/* Whether a symbol's name, or a linkage name in debug information, matches. A part of a function only matches
 * by its own name (f.part.0). */
bool hodo_probe_name_match(const struct hodo_probe_name *n, const char *symbol);
/* Whether a function matches, given its first symbol's index, as in hodo_elf_symbols_next(). *name: the name
 * that matches. */
bool hodo_probe_name_match_function(const struct hodo_probe_name *n, const struct hodo_elf_symbols *s, uint32_t first,
			       const char **name);
