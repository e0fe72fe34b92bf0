/* SPDX-License-Identifier: MIT */
/*
 * sym_impl.h - what the files of sym share.
 *
 *	table    functions by address         sym.c, filled by it (of files), saved.c or kallsyms.c
 *	lines    DWARF, opened when asked     lines.c
 *	brief    short names                  brief.c
 */
#pragma once

#include "sym.h"

#include <errno.h>
#include <stdlib.h>

#include <base/vec.h>
#include <elf/object.h>

struct hodo_sym_function {
	char *demangled, *brief; /* made when asked for */
	uint32_t file, line; /* saved symbols: of the first instruction; file counts from 1, 0 is not known */
};

struct hodo_sym_lines;

struct hodo_sym {
	struct hodo_elf_object object;
	struct hodo_sym_function *functions; /* of the symbol with the same index */
	char **files; /* saved symbols: source files */
	uint32_t nfiles;
	uint32_t *by_name; /* brief.c: the functions whose names are mangled, sorted by these; made when asked for */
	uint32_t nby_name;
	char *path;       /* of the object, "" if not known */
	uid_t owner;      /* with whose rights its files are opened */
	bool saved;       /* read from saved symbols */
	bool lines_tried;
	struct hodo_sym_lines *lines;
};

/* Empty. 0, -EINVAL: the build-id is too long, -ENOMEM. */
int hodo_sym_new(struct hodo_sym **sym, const char *path, const uint8_t *build_id, size_t len);
/* Takes the text, which is freed even on failure. 0 or -ENOMEM. */
static inline int hodo_sym_keep_text(struct hodo_sym *sym, char *text)
{
	char **kept = hodo_vec_add(sym->object.symbols.texts, sym->object.symbols.ntexts);

	if (!kept) {
		free(text);
		return -ENOMEM;
	}
	*kept = text;
	return 0;
}

/* lines.c */
void hodo_sym_lines_close(struct hodo_sym_lines *lines);

/* saved.c: 0, -ENOENT and the like, -EBADMSG, -ENOMEM. */
int hodo_sym_saved_read(struct hodo_sym *sym, const char *path);
int hodo_sym_saved_take(struct hodo_sym *sym, char *text); /* takes text, freed with it; NULL: no memory */
