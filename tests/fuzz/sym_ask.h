/* SPDX-License-Identifier: MIT */
/* sym_ask.h - asks for everything that a file's symbols can answer. */
#ifndef SYM_ASK_H
#define SYM_ASK_H

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <sym/sym.h>

/* Asks for each `step`th address before `until`, and saves to nowhere. Reads all texts, and returns their length. */
static inline size_t ask_all(struct hodo_sym *sym, uint64_t until, uint64_t step)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	size_t seen = 0;

	for (uint64_t address = 0; address < until; address += step) {
		struct hodo_symbol s;
		const char *file;
		uint32_t line;

		if (hodo_sym_find(sym, address, &s))
			seen += strlen(s.name) + strlen(s.mangled);
		if (hodo_sym_line(sym, address, &file, &line))
			seen += strlen(file);
	}
	hodo_sym_save(sym, nowhere);
	close(nowhere);
	return seen;
}

#endif
