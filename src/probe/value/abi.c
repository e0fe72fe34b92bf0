/* SPDX-License-Identifier: MIT */
/*
 * abi.c - parameters at a function's entry and results at its exits, by the System V ABI for x86-64 (chapter
 * 3.2.3): each 8 bytes of a value have a class, which determines the kind of register.
 */
#include "location.h"

#include <dwarf.h>
#include <string.h>

#define VECTORS  8u
#define MEMBERS_MAX 1024u

enum class { NONE, VECTOR, INTEGER, MEMORY };

static const uint8_t integer[HODO_ABI_INTEGERS] = { HODO_FETCH_RDI, HODO_FETCH_RSI, 1, 2, 8, 9 };

struct classes {
	enum class of[2];
	uint64_t base; /* of the current value */
	unsigned depth, *left;
};

bool hodo_abi_register(unsigned n, struct hodo_fetch *f)
{
	return n >= 1 && n <= HODO_ABI_INTEGERS && hodo_fetch_start(f, HODO_FETCH_REGISTER, integer[n - 1], 0);
}

static void merge(struct classes *c, uint64_t at, uint64_t bytes, enum class class)
{
	for (uint64_t k = at / 8; k < 2 && bytes && k <= (at + bytes - 1) / 8; k++)
		c->of[k] = class > c->of[k] ? class : c->of[k];
	if (at + bytes > 16)
		c->of[0] = MEMORY;
}

static void classify(struct classes *c, const struct hodo_ctype *t, uint64_t at);

static int classify_member(void *arg, const struct hodo_ctype_member *m)
{
	struct classes inner = *(struct classes *)arg, *c = arg;

	if (m->odd || inner.depth == 8 || (*c->left)-- == 0) {
		c->of[0] = MEMORY;
		return 1;
	}
	inner.depth++;
	if (m->bits)
		merge(&inner, c->base + m->offset, (m->bit_at + m->bits + 7u) / 8, INTEGER);
	else if ((c->base + m->offset) % hodo_ctype_align(&m->type))
		inner.of[0] = MEMORY; /* packed */
	else
		classify(&inner, &m->type, c->base + m->offset);
	memcpy(c->of, inner.of, sizeof(c->of));
	return 0;
}

static void classify_array(struct classes *c, const struct hodo_ctype *t, uint64_t at)
{
	Dwarf_Die die = t->die;
	Dwarf_Attribute a;
	struct hodo_ctype element;
	uint64_t count, bytes = hodo_ctype_size(t);

	if (dwarf_attr(&die, DW_AT_GNU_vector, &a)) {
		merge(c, at, bytes > 8 ? 8 : bytes, VECTOR); /* the second part is in the same register */
		return;
	}
	if (!hodo_ctype_element(t, &element, &count) || !bytes || bytes > 16) {
		c->of[0] = MEMORY;
		return;
	}
	for (uint64_t i = 0; i < count && i < 16; i++)
		classify(c, &element, at + i * (bytes / count));
}

static void classify(struct classes *c, const struct hodo_ctype *t, uint64_t at)
{
	uint64_t bytes = hodo_ctype_size(t);
	unsigned encoding = hodo_ctype_encoding(t);

	if (!bytes || bytes > 16 || at > 16 || (*c->left)-- == 0) {
		c->of[0] = MEMORY;
	} else if (hodo_ctype_is_aggregate(t)) {
		c->base = at;
		hodo_ctype_members(t, classify_member, c);
	} else if (hodo_ctype_is_array(t)) {
		if (c->depth++ < 8)
			classify_array(c, t, at);
		else
			c->of[0] = MEMORY;
	} else if (encoding == DW_ATE_float && bytes == 16) {
		c->of[0] = MEMORY; /* long double: on the stack, and in st(0) */
	} else if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float) {
		merge(c, at, bytes, VECTOR);
	} else {
		merge(c, at, bytes, INTEGER);
	}
}

/* Types that C++ copies by its own functions are passed by address. */
static bool by_reference(const struct hodo_ctype *t)
{
	Dwarf_Die die = t->die;
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (!hodo_ctype_is_aggregate(t))
		return false;
	if (dwarf_attr(&die, DW_AT_calling_convention, &a) && dwarf_formudata(&a, &v) == 0)
		return v == DW_CC_pass_by_reference;
	if (dwarf_attr(&die, DW_AT_containing_type, &a))
		return true;
	for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, &die);) {
		const char *name = dwarf_tag(&c.die) == DW_TAG_subprogram ? dwarf_diename(&c.die) : NULL;

		if (name && *name == '~')
			return true;
	}
	return false;
}

static struct classes classes_of(const struct hodo_ctype *t)
{
	unsigned left = MEMBERS_MAX;
	struct classes c = { .left = &left };

	classify(&c, t, 0);
	if (c.of[1] == MEMORY)
		c.of[0] = MEMORY;
	c.left = NULL;
	return c;
}

/* Whether the function follows the whole System V ABI: Rust and others do not promise to. */
static bool is_system_v(Dwarf_Die *function)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_ObjC:
	case DW_LANG_ObjC_plus_plus:
		return true;
	default:
		return false;
	}
}

/*
 * Types that all compilers pass alike: a number, an address, or a pair that fills two registers, such as
 * Rust's &str.
 */
static bool is_common(const struct hodo_ctype *t)
{
	struct classes c = classes_of(t);
	bool several = hodo_ctype_is_aggregate(t) || hodo_ctype_is_array(t);

	return several ? hodo_ctype_size(t) == 16 && c.of[0] == INTEGER && c.of[1] == INTEGER :
			 hodo_ctype_size(t) <= 8;
}

/* ---------------------------------------------------------------------- parameters */

struct taken {
	unsigned integers, vectors;
	uint64_t stack; /* bytes above the return address */
};

static bool put_piece(struct hodo_where *w, unsigned reg, uint64_t bytes)
{
	w->piece[w->n].at = 8u * w->n;
	w->piece[w->n].bytes = bytes;
	return hodo_fetch_start(&w->piece[w->n++].fetch, HODO_FETCH_REGISTER, reg, 0);
}

/* In registers: the next ones for integers, and from that one on for vectors. */
static void put_pieces(struct hodo_where *w, const struct classes *c, uint64_t bytes, const uint8_t *integers,
		       unsigned vector)
{
	for (unsigned k = 0; k < 2; k++) {
		uint64_t part = bytes > 8u * (k + 1) ? 8 : bytes - 8u * k;

		if (c->of[k] == INTEGER)
			put_piece(w, *integers++, part);
		else if (c->of[k] == VECTOR)
			put_piece(w, vector++, part);
	}
	if (!w->n)
		hodo_where_missing(w, HODO_REMOVED); /* an empty class */
}

static void put_stack(struct hodo_where *w, struct taken *t, uint64_t bytes, uint64_t align)
{
	struct hodo_fetch f;

	if (align > 8)
		t->stack = (t->stack + 15) & ~UINT64_C(15);
	hodo_fetch_start(&f, HODO_FETCH_REGISTER, HODO_FETCH_RSP, 0);
	if (t->stack > INT32_MAX || bytes > INT32_MAX || !hodo_fetch_add(&f, (int64_t)t->stack + 8))
		hodo_where_missing(w, HODO_NO_ABI);
	else
		hodo_where_is(w, &f, true);
	t->stack += (bytes + 7) & ~UINT64_C(7);
}

/* Gives the next parameter its place. */
static void pass(const struct hodo_ctype *type, struct taken *t, struct hodo_where *w)
{
	struct classes c = classes_of(type);
	uint64_t bytes = hodo_ctype_size(type);
	unsigned integers = (c.of[0] == INTEGER) + (c.of[1] == INTEGER);
	unsigned vectors = (c.of[0] == VECTOR) + (c.of[1] == VECTOR);
	struct hodo_fetch f;

	*w = (struct hodo_where){ 0 };
	if (by_reference(type)) {
		if (t->integers < HODO_ABI_INTEGERS) {
			hodo_abi_register(++t->integers, &f);
			hodo_where_is(w, &f, true);
			return;
		}
		put_stack(w, t, 8, 8);
		if (!hodo_fetch_load(&w->piece[0].fetch, 8, false))
			hodo_where_missing(w, HODO_NO_ABI);
		return;
	}
	if (c.of[0] == MEMORY || t->integers + integers > HODO_ABI_INTEGERS || t->vectors + vectors > VECTORS) {
		put_stack(w, t, bytes, hodo_ctype_align(type));
		return;
	}
	put_pieces(w, &c, bytes, integer + t->integers, HODO_FETCH_XMM0 + t->vectors);
	t->integers += integers;
	t->vectors += vectors;
}

/* Whether the address of the result is a parameter. */
static bool returns_in_memory(Dwarf_Die *function)
{
	struct hodo_ctype type;

	if (!hodo_ctype_of(function, &type) || hodo_ctype_is_reference(&type))
		return false;
	/* long double is in st(0). */
	return by_reference(&type) || (classes_of(&type).of[0] == MEMORY &&
				       (hodo_ctype_is_aggregate(&type) || hodo_ctype_is_array(&type)));
}

/* In a C function without a prototype, a float is passed as a double. */
static bool promoted(Dwarf_Die *function, const struct hodo_ctype *type)
{
	Dwarf_Attribute a;
	Dwarf_Die unit;
	int language = dwarf_diecu(function, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return (language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11) &&
	       !dwarf_attr_integrate(function, DW_AT_prototyped, &a) &&
	       hodo_ctype_encoding(type) == DW_ATE_float && hodo_ctype_size(type) == 4;
}

void hodo_abi_parameter(Dwarf_Die *function, Dwarf_Die *parameter, struct hodo_where *w)
{
	struct taken t = { .integers = returns_in_memory(function) };
	bool system_v = is_system_v(function);
	struct hodo_ctype result;
	Dwarf_Attribute a;
	Dwarf_Word v;

	hodo_where_missing(w, HODO_NO_ABI);
	if (dwarf_attr_integrate(function, DW_AT_calling_convention, &a) && dwarf_formudata(&a, &v) == 0 &&
	    v != DW_CC_normal)
		return;
	if (!system_v && hodo_ctype_of(function, &result) && !is_common(&result))
		return;
	for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, function);) {
		struct hodo_ctype type;

		if (dwarf_tag(&c.die) != DW_TAG_formal_parameter)
			continue;
		if (!hodo_ctype_of(&c.die, &type) || (!system_v && !is_common(&type)))
			break;
		pass(&type, &t, w);
		if (promoted(function, &type))
			hodo_where_missing(w, HODO_NO_ABI);
		if (dwarf_dieoffset(&c.die) == dwarf_dieoffset(parameter))
			return;
	}
	hodo_where_missing(w, HODO_NO_ABI);
}

void hodo_abi_result(Dwarf_Die *function, const struct hodo_ctype *type, struct hodo_where *w)
{
	struct classes c = classes_of(type);
	static const uint8_t results[] = { HODO_FETCH_RAX, HODO_FETCH_RAX + 1 }; /* rax, rdx */
	uint64_t bytes = hodo_ctype_size(type);
	struct hodo_fetch f;

	*w = (struct hodo_where){ 0 };
	if (!is_system_v(function) && !is_common(type)) {
		hodo_where_missing(w, HODO_NO_ABI);
		return;
	}
	if (c.of[0] == MEMORY || by_reference(type)) {
		hodo_fetch_start(&f, HODO_FETCH_REGISTER, HODO_FETCH_RAX, 0);
		hodo_where_is(w, &f, true);
		if (!hodo_ctype_is_aggregate(type))
			hodo_where_missing(w, HODO_TOO_WIDE);
		return;
	}
	put_pieces(w, &c, bytes, results, HODO_FETCH_XMM0);
}
