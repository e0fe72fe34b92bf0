/* SPDX-License-Identifier: MIT */
/* piece.c - follows an expression through the debug information's types, from its base to its value or address. */
#include "piece.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <base/near.h>

void hodo_part_lose(struct hodo_part *o, enum hodo_missing why)
{
	if (!o->missing)
		o->missing = (uint8_t)why;
}

/* ---------------------------------------------------------------- out of memory and registers */

/* The piece that contains all of these bytes, or NULL. */
static const struct hodo_fetch *piece(struct hodo_part *o, uint64_t bytes, uint64_t *at, bool *memory)
{
	uint64_t end;

	for (unsigned i = 0; i < o->where.n && !o->missing; i++) {
		uint64_t from = o->where.piece[i].at, len = o->where.piece[i].bytes;

		if (o->offset < from || o->offset - from > len || len - (o->offset - from) < bytes)
			continue;
		if (o->where.piece[i].missing) {
			hodo_part_lose(o, o->where.piece[i].missing);
			return NULL;
		}
		*at = o->offset - from;
		*memory = o->where.piece[i].memory;
		return &o->where.piece[i].fetch;
	}
	/* After the last piece there is nothing; a value may also span two. */
	end = o->where.n ? o->where.piece[o->where.n - 1].at + o->where.piece[o->where.n - 1].bytes : 0;
	hodo_part_lose(o, o->where.missing ? o->where.missing : o->offset >= end ? HODO_REMOVED : HODO_SCATTERED);
	return NULL;
}

/* The address of it. */
bool hodo_part_address(struct hodo_part *o, struct hodo_fetch *f)
{
	uint64_t at;
	bool memory;
	const struct hodo_fetch *from = piece(o, 1, &at, &memory);

	if (!from)
		return false;
	if (!memory) {
		hodo_part_lose(o, HODO_REMOVED); /* it stands in a register */
		return false;
	}
	*f = *from;
	if (at > INT64_MAX || !hodo_fetch_add(f, (int64_t)at))
		hodo_part_lose(o, HODO_COMPUTED);
	return !o->missing;
}

/* The value of that many bytes. */
bool hodo_part_scalar(struct hodo_part *o, uint64_t bytes, bool is_signed, struct hodo_fetch *f)
{
	uint64_t at, whole = o->bits ? (o->bit_at + o->bits + 7u) / 8 : bytes;
	bool memory, done;
	const struct hodo_fetch *from;

	if (!bytes || bytes > 8)
		hodo_part_lose(o, HODO_TOO_WIDE);
	from = piece(o, whole, &at, &memory);
	if (!from)
		return false;
	*f = *from;
	if (o->address) {
		done = true;
	} else if (memory) {
		unsigned load = whole > 4 ? 8 : whole > 2 ? 4 : (unsigned)whole;

		done = at <= INT64_MAX && hodo_fetch_add(f, (int64_t)at) &&
		       hodo_fetch_load(f, load, is_signed && !o->bits);
		if (done && o->bits)
			done = hodo_fetch_bits(f, o->bit_at, o->bits, is_signed);
	} else {
		unsigned first = (unsigned)(8 * at) + o->bit_at, bits = o->bits ? o->bits : (unsigned)(8 * whole);

		done = at < 8 && first + bits <= 64 && hodo_fetch_bits(f, first, bits, is_signed);
	}
	if (!done)
		hodo_part_lose(o, HODO_COMPUTED);
	return done;
}

/* ------------------------------------------------------------------------------ steps */

/* Follows a pointer or reference. */
static int follow(struct hodo_part *o, const char *what)
{
	struct hodo_ctype target = { 0 };
	struct hodo_fetch f = { 0 };

	if (o->address) { /* *&x */
		o->address = false;
		o->where.piece[0].memory = true;
		return 0;
	}
	if (!o->type.tag_known && !o->is_float && o->bytes == 8) {
		hodo_part_scalar(o, 8, false, &f); /* from a register: its target's type is not known */
	} else if (hodo_ctype_is_array(&o->type)) {
		uint64_t count;

		if (!hodo_ctype_element(&o->type, &o->type, &count))
			return hodo_why(o->why, -EINVAL, "%s is damaged", what);
		return 0;
	} else if (!hodo_ctype_is_pointer(&o->type) && !hodo_ctype_is_reference(&o->type)) {
		return hodo_why(o->why, -EINVAL, "%s is not a pointer", what);
	} else {
		if (!hodo_ctype_target(&o->type, &target))
			return hodo_why(o->why, -EINVAL, "%s is a pointer to an unknown type (void *): give its "
					"bytes, as in (%s, 16)", what, what);
		hodo_part_scalar(o, 8, false, &f);
	}
	o->type = target;
	o->offset = 0;
	hodo_where_is(&o->where, &f, true);
	return 0;
}

static int references(struct hodo_part *o)
{
	int err = 0;

	for (unsigned i = 0; i < 4 && !err && !o->address && hodo_ctype_is_reference(&o->type); i++)
		err = follow(o, "a reference");
	return err;
}

struct names {
	struct hodo_near near;
	unsigned n;
};

static int near_member(void *arg, const struct hodo_ctype_member *m)
{
	struct names *n = arg;

	if (m->name && !m->base)
		hodo_near_look(&n->near, m->name);
	n->n++;
	return 0;
}

static int member(struct hodo_part *o, const char *name, const char *what)
{
	struct hodo_ctype_member m;
	struct names names = { .near = { .wanted = name } };
	int err = references(o);

	if (!err && (o->address || hodo_ctype_is_pointer(&o->type)))
		err = follow(o, what);
	if (!err)
		err = references(o);
	if (err)
		return err;
	if (o->scope->image->debug.dwarf)
		hodo_ctype_complete(&o->type, o->scope->image->debug.dwarf);
	if (!hodo_ctype_is_aggregate(&o->type))
		return hodo_why(o->why, -EINVAL, "%s has no members", what);
	if (!hodo_ctype_find(&o->type, name, &m)) {
		hodo_ctype_members(&o->type, near_member, &names);
		if (names.n)
			return hodo_why(o->why, -ENOENT, "%s has no member %s%s", what, name,
					hodo_near_text(&names.near));
		return hodo_why(o->why, -ENOENT, "%s has a type whose members are not in the debug information",
				what);
	}
	if (m.odd)
		hodo_part_lose(o, HODO_COMPUTED);
	o->type = m.type;
	o->offset += m.offset;
	o->bit_at = m.bit_at;
	o->bits = m.bits;
	return 0;
}

static int element(struct hodo_part *o, uint32_t index, const char *what)
{
	struct hodo_ctype type = { 0 };
	uint64_t count = 0, bytes;
	int err = references(o);

	if (err)
		return err;
	if (hodo_ctype_is_array(&o->type) && !o->address) {
		if (!hodo_ctype_element(&o->type, &type, &count))
			return hodo_why(o->why, -EINVAL, "%s is damaged", what);
		if (count && index >= count)
			return hodo_why(o->why, -EINVAL, "%s has %llu elements: there is no [%u]", what,
					(unsigned long long)count, index);
		o->type = type;
	} else {
		err = follow(o, what);
	}
	bytes = o->type.tag_known ? hodo_ctype_size(&o->type) : 8;
	if (!err && (!bytes || __builtin_mul_overflow(bytes, (uint64_t)index, &bytes) ||
		     __builtin_add_overflow(o->offset, bytes, &o->offset)))
		err = hodo_why(o->why, -EINVAL, "%s: the size of an element is not known", what);
	return err;
}

static int address_of(struct hodo_part *o, const char *what)
{
	struct hodo_fetch f = { 0 };

	if (o->bits || o->address)
		return hodo_why(o->why, -EINVAL, "%s has no address", what);
	if (references(o))
		return -EINVAL;
	hodo_part_address(o, &f);
	hodo_where_is(&o->where, &f, false);
	o->offset = 0;
	o->address = true;
	return 0;
}

/* The steps after the base. `what` in messages is the value's text. */
static int steps(struct hodo_part *o, const struct hodo_spec_expr *e, const char *what)
{
	int err = 0;

	for (unsigned i = 0; i < e->n && !err; i++) {
		const struct hodo_spec_step *s = &e->step[i];

		if (o->bits)
			return hodo_why(o->why, -EINVAL, "%s: a bit field has no parts", what);
		if (!o->type.tag_known && (s->kind == HODO_SPEC_MEMBER || s->kind == HODO_SPEC_ADDRESS_OF))
			return hodo_why(o->why, -EINVAL, "%s: its type is not known: only * and [N] can follow",
					what);
		err = s->kind == HODO_SPEC_MEMBER ? member(o, s->member, what) :
		      s->kind == HODO_SPEC_ELEMENT ? element(o, s->element, what) :
		      s->kind == HODO_SPEC_ADDRESS_OF ? address_of(o, what) : references(o);
		if (!err && s->kind == HODO_SPEC_DEREF)
			err = follow(o, what);
		if (!o->type.tag_known)
			o->bytes = 8;
	}
	return err ? err : references(o);
}

/* -------------------------------------------------------------------------------- bases */

static int near_variable(void *arg, Dwarf_Die *die, int depth)
{
	const char *name = dwarf_diename(die);

	(void)depth;
	if (name)
		hodo_near_look(arg, name);
	return 0;
}

static int no_debug(struct hodo_part *o, const char *name)
{
	if (o->scope->split)
		return hodo_why(o->why, -ENOENT, "%s: the debug information is in a .dwo file, which is not read: "
				"build without -gsplit-dwarf, or use $arg1 to $arg6 and registers", name);
	if (o->scope->image->debug.dwarf)
		return hodo_why(o->why, -ENOENT, "%s: the file has no debug information for this function: use $arg1 "
				"to $arg6 and registers", name);
	return hodo_why(o->why, -ENOENT, "%s: the file has no debug information: install its -dbgsym or -dbg "
			"package, build with -g, or use $arg1 to $arg6 and registers", name);
}

static int variable(struct hodo_part *o, const char *name)
{
	struct hodo_near near = { .wanted = name };
	struct hodo_ctype_member m;
	Dwarf_Die die;

	if (!o->scope->n)
		return no_debug(o, name);
	if (hodo_scope_find(o->scope, name, &die)) {
		hodo_ctype_of(&die, &o->type);
		hodo_scope_where(o->scope, &die, &o->where);
		o->missing = o->where.missing;
		if (!o->type.tag_known)
			return hodo_why(o->why, -EINVAL, "%s has no type in the debug information", name);
		return 0;
	}
	/* In a member function, a member of its object. */
	if (hodo_scope_find(o->scope, "this", &die) && hodo_ctype_of(&die, &o->type)) {
		struct hodo_ctype class;

		if (hodo_ctype_target(&o->type, &class) && hodo_ctype_find(&class, name, &m)) {
			hodo_scope_where(o->scope, &die, &o->where);
			o->missing = o->where.missing;
			return member(o, name, "this");
		}
	}
	hodo_scope_variables(o->scope, true, near_variable, &near);
	return hodo_why(o->why, -ENOENT, "there is no variable %s here%s", name, hodo_near_text(&near));
}

static int argument(struct hodo_part *o, unsigned n)
{
	struct hodo_fetch f;
	Dwarf_Die die;

	if (o->scope->n) {
		if (!hodo_scope_parameter(o->scope, n, &die))
			return hodo_why(o->why, -ENOENT, "$arg%u: the function does not have that many parameters",
					n);
		hodo_ctype_of(&die, &o->type);
		hodo_scope_where(o->scope, &die, &o->where);
		o->missing = o->where.missing;
		return 0;
	}
	if (!hodo_abi_register(n, &f))
		return hodo_why(o->why, -ENOENT, "$arg%u: without debug information only $arg1 to $arg6, the integer "
				"arguments, are known", n);
	hodo_where_is(&o->where, &f, false);
	o->bytes = 8;
	if (!o->scope->entry)
		hodo_part_lose(o, HODO_ENTRY_ONLY);
	return 0;
}

static int result_of(struct hodo_part *o, bool result)
{
	struct hodo_fetch f;
	Dwarf_Die function;

	if (o->scope->n) {
		function = o->scope->chain[0];
		if (!hodo_ctype_of(&function, &o->type))
			return hodo_why(o->why, -EINVAL, "$retval: the function returns nothing");
		hodo_abi_result(&function, &o->type, &o->where);
	} else {
		hodo_fetch_start(&f, HODO_FETCH_REGISTER, HODO_FETCH_RAX, 0);
		hodo_where_is(&o->where, &f, false);
		o->bytes = 8;
	}
	o->missing = o->where.missing;
	if (!result)
		o->missing = HODO_EXIT_ONLY;
	return 0;
}

static int base(struct hodo_part *o, bool result, const struct hodo_spec_expr *e)
{
	struct hodo_fetch f;
	unsigned bytes;

	switch (e->base) {
	case HODO_SPEC_REGISTER:
		if (!hodo_fetch_register(&f, e->name, &bytes))
			return hodo_why(o->why, -EINVAL, "%s is not a register such as %%rdi", e->name);
		o->bytes = bytes;
		o->is_float = strchr("xyz", e->name[1]) && e->name[2] == 'm';
		hodo_where_is(&o->where, &f, false);
		return 0;
	case HODO_SPEC_NUMBER:
		hodo_fetch_start(&f, HODO_FETCH_CONSTANT, 0, (int64_t)e->number);
		hodo_where_is(&o->where, &f, false);
		o->bytes = 8;
		return 0;
	case HODO_SPEC_RETVAL:
		return result_of(o, result);
	default:
		if (result)
			return hodo_why(o->why, -EINVAL, "at a return only $retval and registers are known: record "
					"%s at the entry", e->name);
		return e->base == HODO_SPEC_ARG ? argument(o, (unsigned)e->number) : variable(o, e->name);
	}
}

int hodo_part_find(struct hodo_part *o, bool result, const struct hodo_spec_expr *e, const char *text)
{
	int err = base(o, result, e);

	return err ? err : steps(o, e, text);
}
