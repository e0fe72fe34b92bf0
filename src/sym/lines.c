/* SPDX-License-Identifier: MIT */
/*
 * lines.c - source lines from DWARF. Which compilation unit an address is in is
 * known from the units' own ranges, since not all compilers write .debug_aranges;
 * a unit's lines are read when they are first asked for.
 */
#include "internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

#include <base/map.h>
#include <base/rights.h>
#include <base/scope.h>
#include <core/search.h>

#define RANGES_MAX (1u << 22)
/* Debug information becomes three to five times as large; what claims more is made to fill the memory. */
#define RATIO_MAX   64u
#define RATIO_FREE  (1u << 20)
#define OVERLAP_MAX 8u /* units that may cover one address */

struct range {
	uint64_t start, end;
	Dwarf_Off unit;
};

/* A relative path, and the same with the folder that the compiler ran in before it. */
struct joined {
	uint64_t path; /* address of libdw's text, which is the same for all lines of a file in a unit */
	char *full;
};

struct hodo_sym_lines {
	struct hodo_elf elf;
	Dwarf *dwarf;
	struct range *ranges; /* by start */
	uint32_t n;
	struct hodo_map joined;
};

/* ---------------------------------------------------------------- compressed sections */

/* The size that a section claims to have when it is decompressed; 0: it is not compressed. */
static uint64_t claimed_size(Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	GElf_Chdr ch;
	Elf_Data *data;
	uint64_t size;

	if (sh->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
	if (strncmp(name, ".zdebug", 7) != 0)
		return 0;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return be64toh(size);
}

static bool sizes_are_sound(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL)
		if (claimed_size(scn, &sh, hodo_elf_section_name(elf, &sh)) / RATIO_MAX > sh.sh_size + RATIO_FREE)
			return false;
	return true;
}

static bool text_ends(const Elf_Data *data)
{
	return !data || !data->d_size || (data->d_buf && !((const char *)data->d_buf)[data->d_size - 1]);
}

/* libdw takes texts where they begin, and does not look whether they end. After it has decompressed them. */
static bool texts_end(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL) {
		const char *debug = strstr(hodo_elf_section_name(elf, &sh), "debug_");

		if (debug && (strcmp(debug, "debug_str") == 0 || strcmp(debug, "debug_line_str") == 0) &&
		    !(text_ends(elf_getdata(scn, NULL)) && text_ends(elf_rawdata(scn, NULL))))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------- units */

static int add_unit(struct hodo_sym_lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	struct range *range;
	ptrdiff_t at = 0;

	while (l->n < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		range = hodo_vec_add(l->ranges, l->n);
		if (!range)
			return -ENOMEM;
		*range = (struct range){ start, end, dwarf_dieoffset(die) };
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

static int list_units(struct hodo_sym_lines *l)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	int err = 0;

	while (!err && dwarf_get_units(l->dwarf, unit, &unit, &version, &type, &die, NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = add_unit(l, &die);
	if (l->n)
		qsort(l->ranges, l->n, sizeof(*l->ranges), by_start);
	return err;
}

struct hodo_sym_lines *hodo_sym_lines_open(const struct hodo_sym *sym)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	struct hodo_sym_lines *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return NULL;
	l->elf = HODO_ELF_CLOSED;
	l->joined = (struct hodo_map)HODO_MAP(struct joined, path);
	err = hodo_rights_of(&rights, sym->owner);
	if (!err)
		err = hodo_elf_open(&l->elf, sym->object.lines);
	hodo_rights_end(&rights);
	if (!err && sym->object.build_id_len && !hodo_elf_is(&l->elf, sym->object.build_id, sym->object.build_id_len))
		err = -ESTALE;
	if (!err && !sizes_are_sound(l->elf.elf))
		err = -EBADMSG;
	if (!err)
		l->dwarf = dwarf_begin_elf(l->elf.elf, DWARF_C_READ, NULL);
	if (!err && l->dwarf)
		err = texts_end(l->elf.elf) ? list_units(l) : -EBADMSG;
	if (err || !l->dwarf) {
		hodo_sym_lines_close(l);
		return NULL;
	}
	return l;
}

void hodo_sym_lines_close(struct hodo_sym_lines *lines)
{
	if (!lines)
		return;
	if (lines->dwarf)
		dwarf_end(lines->dwarf);
	hodo_elf_close(&lines->elf);
	for (uint32_t i = 0; i < lines->joined.n; i++)
		free(((struct joined *)hodo_map_at(&lines->joined, i))->full);
	hodo_map_free(&lines->joined);
	free(lines->ranges);
	free(lines);
}

/* ------------------------------------------------------------------------- paths */

/* libdw leaves a path relative where its folder is relative, too. */
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

static bool find_in(struct hodo_sym_lines *l, Dwarf_Off unit, uint64_t address, const char **file, uint32_t *line)
{
	Dwarf_Die die;
	Dwarf_Line *found;
	int number;

	if (!dwarf_offdie(l->dwarf, unit, &die))
		return false;
	found = dwarf_getsrc_die(&die, address);
	if (!found || dwarf_lineno(found, &number) != 0 || number <= 0)
		return false;
	*file = dwarf_linesrc(found, NULL, NULL);
	if (!*file)
		return false;
	*file = full_path(l, &die, *file);
	*line = (uint32_t)number;
	return true;
}

bool hodo_sym_lines_find(struct hodo_sym_lines *lines, uint64_t address, const char **file, uint32_t *line)
{
	uint32_t behind = hodo_search(i, lines->n, lines->ranges[i].start > address);

	for (uint32_t i = behind; i-- > 0 && behind - i <= OVERLAP_MAX;)
		if (address < lines->ranges[i].end && find_in(lines, lines->ranges[i].unit, address, file, line))
			return true;
	return false;
}
