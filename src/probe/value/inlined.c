/* SPDX-License-Identifier: MIT */
/* inlined.c - finds inlined copies of functions in the debug information. */
#include "inlined.h"

#include <dwarf.h>
#include <errno.h>

#include <base/map.h>

#define DEPTH_MAX 128u

struct origin {
	uint64_t offset;
	const char *name; /* NULL: not matched */
};

struct walk {
	const struct hodo_probe_image *image;
	const struct hodo_probe_name *names;
	hodo_inlined_fn each;
	void *arg;
	struct hodo_map origins; /* functions already checked */
};

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	return name ? name : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a));
}

/* The name of the copied function if it matches, or NULL. */
static int origin_of(struct walk *w, Dwarf_Die *copy, const char **name)
{
	Dwarf_Attribute a;
	Dwarf_Die die;
	struct origin *o;
	bool added;

	*name = NULL;
	if (!dwarf_attr(copy, DW_AT_abstract_origin, &a) || !dwarf_formref_die(&a, &die))
		return 0;
	o = hodo_map_add_u64(&w->origins, dwarf_dieoffset(&die), &added);
	if (!o)
		return -ENOMEM;
	if (added) {
		const char *linkage = linkage_name(&die), *plain = dwarf_diename(&die);

		if ((linkage && hodo_probe_name_match(w->names, linkage)) ||
		    (plain && hodo_probe_name_match(w->names, plain)))
			o->name = plain ? plain : linkage;
	}
	*name = o->name;
	return 0;
}

static bool entry_of(Dwarf_Die *die, Dwarf_Addr *address)
{
	Dwarf_Attribute a;
	Dwarf_Addr base, start, end;
	Dwarf_Word offset;
	bool low = dwarf_lowpc(die, &start) == 0 || dwarf_ranges(die, 0, &base, &start, &end) > 0;

	if (dwarf_attr(die, DW_AT_entry_pc, &a)) {
		if (dwarf_formaddr(&a, address) == 0)
			return true;
		if (low && dwarf_formudata(&a, &offset) == 0) {
			*address = start + offset;
			return true;
		}
	}
	*address = start;
	return low;
}

static int descend(struct walk *w, Dwarf_Die *die, unsigned depth)
{
	int err = 0;

	for (struct hodo_elf_child c = { 0 }; depth < DEPTH_MAX && !err && hodo_elf_child_next(&c, die);) {
		const char *name = NULL;
		Dwarf_Addr address;

		switch (dwarf_tag(&c.die)) {
		case DW_TAG_inlined_subroutine:
			err = origin_of(w, &c.die, &name);
			if (!err && name && entry_of(&c.die, &address) && hodo_probe_image_is_code(w->image, address))
				err = w->each(w->arg, address, name, dwarf_dieoffset(&c.die));
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_module:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			break;
		default:
			continue;
		}
		if (!err && dwarf_haschildren(&c.die) == 1)
			err = descend(w, &c.die, depth + 1);
	}
	return err;
}

int hodo_inlined_each(const struct hodo_probe_image *i, const struct hodo_probe_name *names, hodo_inlined_fn each,
		      void *arg)
{
	struct walk w = { .image = i, .names = names, .each = each, .arg = arg,
			  .origins = HODO_MAP(struct origin, offset) };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int err = 0;

	while (!err && i->debug.dwarf && dwarf_get_units(i->debug.dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		err = descend(&w, &die, 0);
	hodo_map_free(&w.origins);
	return err;
}
