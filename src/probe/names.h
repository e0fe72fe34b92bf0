/* SPDX-License-Identifier: MIT */
/* names.h - which functions a name in a probe's text means: those of the symbol tables, by any of their names, as C++
 * has them with or without parameters, in full or short (core/brief_name.h), and with * ? [...]. */
#ifndef HODO_PROBE_NAMES_H
#define HODO_PROBE_NAMES_H

#include <elf/symbols.h>

struct hodo_names {
	const char *wanted;
	bool glob;
	bool whole;      /* only as C++ has it with parameters */
	char part[64];   /* what mangled names of it have in them; "": nothing is known of that */
};

void hodo_names_begin(struct hodo_names *n, const char *wanted, bool whole);
/* Whether a symbol's name, or a linkage name of debug information, is meant. Of a part of a function only if it is
 * named itself (f.part.0). */
bool hodo_names_match(const struct hodo_names *n, const char *symbol);
/* Whether a function is: the first of its symbols' indexes, as hodo_elf_symbols_next() has it. *name: that which is
 * meant. */
bool hodo_names_match_function(const struct hodo_names *n, const struct hodo_elf_symbols *s, uint32_t first,
			       const char **name);

#endif
