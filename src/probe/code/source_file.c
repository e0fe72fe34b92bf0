/* SPDX-License-Identifier: MIT */
/* source_file.c - see source_file.h. */
#include "source_file.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

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

static int by_start(const void *a, const void *b)
{
	const struct hodo_source_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int hodo_source_files_read(struct hodo_source_files *s, const struct hodo_elf_dwarf *d)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int err = 0;

	while (!err && d->dwarf && dwarf_get_units(d->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		err = walk(s, &die, 0);
	if (s->n)
		qsort(s->ranges, s->n, sizeof(*s->ranges), by_start);
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
