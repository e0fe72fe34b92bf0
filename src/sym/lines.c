/* SPDX-License-Identifier: MIT */
/* lines.c - source lines from DWARF. A unit's lines are read when they are first asked for. */
#include "sym_impl.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

#include <base/map.h>
#include <base/rights.h>
#include <base/scope.h>
#include <elf/dwarf.h>

/* A relative path, and the same with the compiler's working folder before it. */
struct joined {
	uint64_t path; /* address of libdw's text, the same for all lines of a file in a unit */
	char *full;
};

struct hodo_sym_lines {
	struct hodo_elf_dwarf debug;
	struct hodo_map joined;
};

static struct hodo_sym_lines *open_lines(const struct hodo_sym *sym)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	struct hodo_sym_lines *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return NULL;
	l->joined = (struct hodo_map)HODO_MAP(struct joined, path);
	err = hodo_rights_of(&rights, sym->owner);
	if (!err)
		err = hodo_elf_dwarf_open(&l->debug, sym->object.lines, sym->object.build_id, sym->object.build_id_len);
	hodo_rights_end(&rights);
	if (err) {
		hodo_sym_lines_close(l);
		return NULL;
	}
	return l;
}

void hodo_sym_lines_close(struct hodo_sym_lines *lines)
{
	if (!lines)
		return;
	hodo_elf_dwarf_close(&lines->debug);
	for (uint32_t i = 0; i < lines->joined.n; i++)
		free(((struct joined *)hodo_map_at(&lines->joined, i))->full);
	hodo_map_free(&lines->joined);
	free(lines);
}

/* ------------------------------------------------------------------------- paths */

/* libdw leaves a path relative if its folder is relative, too. */
static const char *full_path(struct hodo_sym_lines *l, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attr;
	struct joined *j;
	const char *dir;

	if (*path == '/')
		return path;
	j = hodo_map_add_u64(&l->joined, (uintptr_t)path, NULL);
	if (j && !j->full) {
		dir = dwarf_formstring(dwarf_attr_integrate(unit, DW_AT_comp_dir, &attr));
		if (!dir || asprintf(&j->full, "%s/%s", dir, path) < 0)
			j->full = NULL;
	}
	return j && j->full ? j->full : path;
}

static bool find_in(struct hodo_sym_lines *l, Dwarf_Die *unit, uint64_t address, const char **file, uint32_t *line)
{
	Dwarf_Line *found = dwarf_getsrc_die(unit, address);
	int number;

	if (!found || dwarf_lineno(found, &number) != 0 || number <= 0)
		return false;
	*file = dwarf_linesrc(found, NULL, NULL);
	if (!*file)
		return false;
	*file = full_path(l, unit, *file);
	*line = (uint32_t)number;
	return true;
}

static bool find_line(struct hodo_sym_lines *lines, uint64_t address, const char **file, uint32_t *line)
{
	Dwarf_Die unit;

	for (unsigned i = 0; hodo_elf_dwarf_unit(&lines->debug, address, i, &unit); i++)
		if (find_in(lines, &unit, address, file, line))
			return true;
	return false;
}

bool hodo_sym_line(struct hodo_sym *sym, uint64_t address, const char **file, uint32_t *line)
{
	if (sym->saved) {
		uint32_t i = hodo_elf_symbols_at(&sym->object.symbols, address);

		if (i == HODO_ELF_NONE || !sym->functions[i].file)
			return false;
		*file = sym->files[sym->functions[i].file - 1];
		*line = sym->functions[i].line;
		return true;
	}
	if (!sym->lines_tried && sym->object.lines) {
		sym->lines_tried = true;
		sym->lines = open_lines(sym);
	}
	return sym->lines && find_line(sym->lines, address, file, line);
}
