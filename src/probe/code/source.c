/* SPDX-License-Identifier: MIT */
/* source.c - finds the files that functions were written in, and the code of lines. */
#include "source.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/vec.h>
#include <core/glob.h>
#include <core/search.h>

#define DEPTH_MAX  64u /* of namespaces and classes, and of nested functions */
#define RANGES_MAX 64  /* of one function */

static bool holds_functions(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_module ||
	       tag == DW_TAG_lexical_block;
}

static int add(struct hodo_source_files *s, Dwarf_Die *function)
{
	const char *path = dwarf_decl_file(function);
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int err = 0;

	for (int i = 0; path && i < RANGES_MAX && !err; i++) {
		at = dwarf_ranges(function, at, &base, &start, &end);
		if (at <= 0)
			break;
		err = hodo_vec_push(s->ranges, s->n, ((struct hodo_source_range){ start, path }));
	}
	return err;
}

static int walk(struct hodo_source_files *s, Dwarf_Die *die, unsigned depth)
{
	int err = 0;

	for (struct hodo_elf_child c = { 0 }; !err && depth < DEPTH_MAX && hodo_elf_child_next(&c, die);) {
		int tag = dwarf_tag(&c.die);

		if (tag == DW_TAG_subprogram)
			err = add(s, &c.die);
		if (!err && holds_functions(tag))
			err = walk(s, &c.die, depth + 1);
	}
	return err;
}

int hodo_source_files_read(struct hodo_source_files *s, const struct hodo_elf_dwarf *d)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int err = 0;

	while (!err && d->dwarf && dwarf_get_units(d->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		err = walk(s, &die, 0);
	hodo_order_sort(s->ranges, s->n, hodo_order_u64);
	return err;
}

void hodo_source_files_free(struct hodo_source_files *s)
{
	free(s->ranges);
	*s = (struct hodo_source_files){ 0 };
}

const char *hodo_source_file_at(const struct hodo_source_files *s, uint64_t start)
{
	uint32_t i = hodo_search(k, s->n, s->ranges[k].start >= start);

	return i < s->n && s->ranges[i].start == start ? s->ranges[i].path : NULL;
}

bool hodo_source_file_is(const char *text, size_t len, const char *path)
{
	for (;;) {
		if (hodo_glob(text, len, path, strlen(path)))
			return true;
		path = strchr(path, '/');
		if (!path++)
			return false;
	}
}

/* -------------------------------------------------------------------------- lines */

static bool is_file(const char *path, const char *wanted)
{
	size_t len = strlen(path), end = strlen(wanted);

	return len >= end && strcmp(path + len - end, wanted) == 0 && (len == end || path[len - end - 1] == '/');
}

/* Whether the unit has code of the file. */
static bool has_file(struct hodo_source_line *s, Dwarf_Die *unit)
{
	Dwarf_Files *files;
	size_t n;
	bool has = false;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *path = dwarf_filesrc(files, i, NULL, NULL), *slash;

		if (!path)
			continue;
		has |= is_file(path, s->file);
		slash = strrchr(path, '/');
		hodo_near_look(&s->near, slash ? slash + 1 : path);
	}
	return has;
}

static int take_unit(struct hodo_source_line *s, const struct hodo_probe_image *image, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;
	bool inside = false; /* the previous row is of the same line, which has already begun */
	int err = 0;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; i < n && !err; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		const char *path = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
		bool end = true, begins = false, here;
		Dwarf_Addr address;
		int number;

		if (!path || dwarf_lineno(row, &number) != 0 || number <= 0 || dwarf_lineaddr(row, &address) != 0 ||
		    dwarf_lineendsequence(row, &end) != 0 || end || !is_file(path, s->file) ||
		    !hodo_probe_image_is_code(image, address)) {
			inside = false;
			continue;
		}
		s->file_known = true;
		here = (uint64_t)number == s->line;
		dwarf_linebeginstatement(row, &begins);
		if (begins && (uint64_t)number > s->line && (!s->next || (uint64_t)number < s->next))
			s->next = (uint64_t)number;
		if (here && begins && !inside)
			err = hodo_vec_push(s->addresses, s->n, address);
		inside = here && (inside || begins);
	}
	return err;
}

int hodo_source_line_find(struct hodo_source_line *s, const struct hodo_probe_image *i)
{
	const char *slash = strrchr(s->file, '/');
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint32_t n = 0;
	int err = 0;

	s->near.wanted = slash ? slash + 1 : s->file;
	while (!err && i->debug.dwarf && dwarf_get_units(i->debug.dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (has_file(s, &die))
			err = take_unit(s, i, &die);
	hodo_order_sort(s->addresses, s->n, hodo_order_u64);
	for (uint32_t k = 0; k < s->n; k++)
		if (!n || s->addresses[n - 1] != s->addresses[k])
			s->addresses[n++] = s->addresses[k];
	s->n = n;
	return err;
}
