/* SPDX-License-Identifier: MIT */
/* type.c - reads types from debug information. */
#include "type.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include <base/text.h>
#include <elf/dwarf.h>

#define FOLLOW_MAX  32u   /* references from one to the next */
#define LOOKS_MAX   65536u
#define DIMENSIONS_MAX 8u
#define NAME_MAX_BYTES 512u

static bool attr_type(Dwarf_Die *of, Dwarf_Die *to)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(of, DW_AT_type, &a) && dwarf_formref_die(&a, to);
}

/* libdw's own function would follow a cycle forever. */
static bool peel(Dwarf_Die *die)
{
	for (unsigned i = 0; i < FOLLOW_MAX; i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!attr_type(die, die))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

bool hodo_ctype_of(Dwarf_Die *of, struct hodo_ctype *type)
{
	*type = (struct hodo_ctype){ 0 };
	if (!attr_type(of, &type->named))
		return false;
	type->die = type->named;
	type->tag_known = peel(&type->die);
	return type->tag_known;
}

int hodo_ctype_tag(const struct hodo_ctype *t)
{
	Dwarf_Die die = t->die;

	return t->tag_known ? dwarf_tag(&die) : 0;
}

bool hodo_ctype_is_pointer(const struct hodo_ctype *t)
{
	return hodo_ctype_tag(t) == DW_TAG_pointer_type;
}

bool hodo_ctype_is_reference(const struct hodo_ctype *t)
{
	int tag = hodo_ctype_tag(t);

	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool hodo_ctype_is_array(const struct hodo_ctype *t)
{
	return hodo_ctype_tag(t) == DW_TAG_array_type;
}

bool hodo_ctype_is_aggregate(const struct hodo_ctype *t)
{
	int tag = hodo_ctype_tag(t);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static uint64_t number(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_attr_integrate(die, name, &a) && dwarf_formudata(&a, &v) == 0 ? v : otherwise;
}

unsigned hodo_ctype_encoding(const struct hodo_ctype *t)
{
	Dwarf_Die die = t->die;
	int tag = hodo_ctype_tag(t);

	if (tag == DW_TAG_base_type)
		return (unsigned)number(&die, DW_AT_encoding, 0);
	if (tag != DW_TAG_enumeration_type)
		return 0;
	if (!attr_type(&die, &die) || !peel(&die) || dwarf_tag(&die) != DW_TAG_base_type)
		return DW_ATE_unsigned;
	return (unsigned)number(&die, DW_AT_encoding, DW_ATE_unsigned);
}

bool hodo_ctype_is_char(const struct hodo_ctype *t)
{
	Dwarf_Die die = t->die;
	const char *name = hodo_ctype_tag(t) == DW_TAG_base_type ? dwarf_diename(&die) : NULL;

	return name && (strcmp(name, "char") == 0 || strcmp(name, "char8_t") == 0);
}

/* ------------------------------------------------------------------------- sizes */

static uint64_t elements(Dwarf_Die *range)
{
	return number(range, DW_AT_count, number(range, DW_AT_upper_bound, UINT64_MAX) + 1);
}

/* The number of elements of the first remaining dimension, and the size of one; false: none. */
static bool dimension(const struct hodo_ctype *t, uint64_t *count, uint64_t *stride, bool *last)
{
	Dwarf_Die die = t->die;
	struct hodo_ctype element;
	uint64_t bytes = 0, counts[DIMENSIONS_MAX];
	unsigned n = 0;

	for (struct hodo_elf_child c = { 0 }; n < DIMENSIONS_MAX && hodo_elf_child_next(&c, &die);)
		if (dwarf_tag(&c.die) == DW_TAG_subrange_type)
			counts[n++] = elements(&c.die);
	if (t->dimension >= n)
		return false;
	if (hodo_ctype_of(&die, &element))
		bytes = hodo_ctype_is_array(&element) ? 0 : hodo_ctype_size(&element);
	for (unsigned i = n - 1; i > t->dimension; i--)
		if (__builtin_mul_overflow(bytes, counts[i], &bytes))
			bytes = 0;
	*count = counts[t->dimension];
	*stride = bytes;
	*last = t->dimension + 1u == n;
	return true;
}

uint64_t hodo_ctype_size(const struct hodo_ctype *t)
{
	Dwarf_Die die = t->die;
	uint64_t count, stride;
	bool last;

	if (hodo_ctype_is_pointer(t) || hodo_ctype_is_reference(t))
		return 8;
	if (hodo_ctype_is_array(t)) {
		if (!dimension(t, &count, &stride, &last) || __builtin_mul_overflow(count, stride, &stride))
			return 0;
		return stride;
	}
	return t->tag_known ? number(&die, DW_AT_byte_size, hodo_ctype_tag(t) == DW_TAG_ptr_to_member_type ? 8 : 0) : 0;
}

static int take_align(void *arg, const struct hodo_ctype_member *m)
{
	uint64_t *align = arg, own;

	own = hodo_ctype_is_aggregate(&m->type) ? 1 : hodo_ctype_align(&m->type);
	*align = own > *align ? own : *align;
	return 0;
}

uint64_t hodo_ctype_align(const struct hodo_ctype *t)
{
	Dwarf_Die die = t->die;
	struct hodo_ctype element = *t;
	uint64_t align, size;

	align = number(&die, DW_AT_alignment, 0);
	if (align)
		return align;
	align = 1;
	if (hodo_ctype_is_aggregate(t)) {
		hodo_ctype_members(t, take_align, &align);
		return align;
	}
	for (unsigned i = 0; hodo_ctype_is_array(&element) && i < FOLLOW_MAX; i++)
		if (!hodo_ctype_of(&element.die, &element))
			return 1;
	size = hodo_ctype_is_aggregate(&element) || hodo_ctype_is_array(&element) ? 8 : hodo_ctype_size(&element);
	return size ? size > 16 ? 16 : size : 1;
}

/* --------------------------------------------------------------------- what is in it */

bool hodo_ctype_target(const struct hodo_ctype *t, struct hodo_ctype *to)
{
	Dwarf_Die die = t->die;

	*to = (struct hodo_ctype){ 0 };
	return (hodo_ctype_is_pointer(t) || hodo_ctype_is_reference(t)) && hodo_ctype_of(&die, to);
}

bool hodo_ctype_element(const struct hodo_ctype *t, struct hodo_ctype *to, uint64_t *count)
{
	Dwarf_Die die = t->die;
	uint64_t stride;
	bool last;

	if (!hodo_ctype_is_array(t) || !dimension(t, count, &stride, &last))
		return false;
	if (last)
		return hodo_ctype_of(&die, to);
	*to = *t;
	to->dimension++;
	return true;
}

void hodo_ctype_complete(struct hodo_ctype *t, Dwarf *dwarf)
{
	Dwarf_Attribute a;
	const char *name = hodo_ctype_is_aggregate(t) ? dwarf_diename(&t->die) : NULL;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int tag = hodo_ctype_tag(t);

	if (!name || !dwarf_attr(&t->die, DW_AT_declaration, &a))
		return;
	while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, &die);) {
			const char *other = dwarf_tag(&c.die) == tag ? dwarf_diename(&c.die) : NULL;

			if (other && strcmp(other, name) == 0 && !dwarf_attr(&c.die, DW_AT_declaration, &a)) {
				t->die = c.die;
				return;
			}
		}
	}
}

/* Its place, by the attributes of DWARF 2 to 5. */
static void place_member(Dwarf_Die *die, struct hodo_ctype_member *m)
{
	Dwarf_Attribute a;
	Dwarf_Word v;
	Dwarf_Op *ops;
	size_t n;
	uint64_t bits = number(die, DW_AT_bit_size, 0), size = number(die, DW_AT_byte_size, hodo_ctype_size(&m->type));
	uint64_t at = 0;

	if (dwarf_attr(die, DW_AT_data_member_location, &a)) {
		if (dwarf_formudata(&a, &v) == 0)
			m->offset = v;
		else if (dwarf_getlocation(&a, &ops, &n) == 0 && n == 1 && ops[0].atom == DW_OP_plus_uconst)
			m->offset = ops[0].number;
		else
			m->odd = true;
	}
	if (!bits || bits > 64)
		return;
	if (dwarf_attr(die, DW_AT_data_bit_offset, &a) && dwarf_formudata(&a, &v) == 0)
		at = v;
	else /* counted from the highest bit of its storage */
		at = 8 * m->offset + 8 * size - number(die, DW_AT_bit_offset, 0) - bits;
	/* In as few bytes as possible: what follows may be on another page. */
	m->offset = at / 8;
	m->bit_at = at % 8;
	m->bits = (uint8_t)bits;
	m->odd |= m->bit_at + bits > 64;
}

int hodo_ctype_members(const struct hodo_ctype *t, hodo_ctype_member_fn each, void *arg)
{
	Dwarf_Die die = t->die;
	int err = 0;

	if (!hodo_ctype_is_aggregate(t))
		return 0;
	for (struct hodo_elf_child c = { 0 }; !err && hodo_elf_child_next(&c, &die);) {
		int tag = dwarf_tag(&c.die);
		struct hodo_ctype_member m = { .base = tag == DW_TAG_inheritance };
		Dwarf_Attribute a;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !hodo_ctype_of(&c.die, &m.type) ||
		    dwarf_attr(&c.die, DW_AT_external, &a)) /* static ones */
			continue;
		m.name = dwarf_diename(&c.die);
		place_member(&c.die, &m);
		err = each(arg, &m);
	}
	return err;
}

struct search {
	const char *name;
	struct hodo_ctype_member *found;
	uint64_t offset;
	unsigned depth;
	unsigned *left; /* members that may still be visited */
	bool odd;
};

static int look(void *arg, const struct hodo_ctype_member *m)
{
	struct search *s = arg, inner;

	if ((*s->left)-- == 0)
		return -1;
	if (m->name && !m->base && strcmp(m->name, s->name) == 0) {
		*s->found = *m;
		s->found->offset += s->offset;
		s->found->odd |= s->odd;
		return 1;
	}
	if ((m->name && !m->base) || s->depth == 8)
		return 0;
	inner = *s;
	inner.depth++;
	inner.offset += m->offset;
	inner.odd |= m->odd;
	return hodo_ctype_members(&m->type, look, &inner);
}

bool hodo_ctype_find(const struct hodo_ctype *t, const char *name, struct hodo_ctype_member *found)
{
	unsigned left = LOOKS_MAX;
	struct search s = { .name = name, .found = found, .left = &left };

	return hodo_ctype_members(t, look, &s) > 0;
}

/* -------------------------------------------------------------------------- names */

static void put_array(Dwarf_Die *die, unsigned from, struct hodo_text *to)
{
	unsigned n = 0;

	for (struct hodo_elf_child c = { 0 }; n < DIMENSIONS_MAX && hodo_elf_child_next(&c, die);) {
		uint64_t count;

		if (dwarf_tag(&c.die) != DW_TAG_subrange_type || n++ < from)
			continue;
		count = elements(&c.die);
		hodo_text_printf(to, count ? "[%llu]" : "[]", (unsigned long long)count);
	}
}

static void put(Dwarf_Die *die, unsigned from, unsigned depth, struct hodo_text *to)
{
	int tag = dwarf_tag(die);
	const char *name = dwarf_diename(die);
	Dwarf_Die inner;
	bool typed;

	if (depth == FOLLOW_MAX || to->len > NAME_MAX_BYTES)
		return;
	if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type) {
		hodo_text_add(to, tag == DW_TAG_structure_type ? "struct " :
				  tag == DW_TAG_union_type ? "union " : "enum ");
		hodo_text_add(to, name ? name : "{...}");
		return;
	}
	if (name && tag != DW_TAG_pointer_type) {
		hodo_text_add(to, name);
		return;
	}
	typed = attr_type(die, &inner);
	if (tag == DW_TAG_const_type || tag == DW_TAG_volatile_type) {
		const char *word = tag == DW_TAG_const_type ? "const" : "volatile";
		bool behind = typed && dwarf_tag(&inner) == DW_TAG_pointer_type;

		hodo_text_printf(to, behind ? "" : "%s ", word);
		if (typed)
			put(&inner, 0, depth + 1, to);
		else
			hodo_text_add(to, "void");
		if (behind)
			hodo_text_add(to, word);
		return;
	}
	if (tag == DW_TAG_subroutine_type) {
		hodo_text_add(to, "function ");
		return;
	}
	if (typed)
		put(&inner, 0, depth + 1, to);
	else
		hodo_text_add(to, "void");
	if (tag == DW_TAG_array_type) {
		hodo_text_char(to, ' ');
		put_array(die, from, to);
	} else if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) {
		if (to->len && to->data[to->len - 1] != '*' && to->data[to->len - 1] != ' ')
			hodo_text_char(to, ' ');
		hodo_text_add(to, tag == DW_TAG_pointer_type ? "*" : tag == DW_TAG_reference_type ? "&" : "&&");
	}
}

void hodo_ctype_put(const struct hodo_ctype *t, struct hodo_text *to)
{
	Dwarf_Die die = t->dimension ? t->die : t->named;

	if (t->tag_known)
		put(&die, t->dimension, 0, to);
	else
		hodo_text_add(to, "void");
}
