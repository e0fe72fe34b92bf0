/* SPDX-License-Identifier: MIT */
/* resolve.c - finds the places of a probe's text in a file, and what its values mean at each. */
#include "resolve.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/near.h>
#include <base/order.h>
#include <base/vec.h>
#include <elf/demangle.h>

#include "inlined.h"
#include <probe/code/object.h>
#include <probe/code/source.h>

struct resolving {
	struct hodo_probe_points *points;
	const struct hodo_probe_image *image;
	const struct hodo_spec *spec;
	const struct hodo_spec_value *values; /* of the spec, or none of them */
	uint32_t nvalues, most;
	struct hodo_why *why;
};

/* ---------------------------------------------------------------------------- points */

/* Of a function without a symbol; past the address if none is known. */
static uint64_t start_of(const struct hodo_probe_image *i, uint64_t address)
{
	const struct hodo_probe_function *f = i->code ? hodo_probe_function_at(i->code, address) : NULL;

	return f && !f->part ? f->start : address + 1;
}

static int add(struct resolving *r, uint64_t address, const char *inlined)
{
	const struct hodo_elf_symbols *s = &r->image->object.symbols;
	struct hodo_probe_point *p;
	uint32_t at;

	if (r->points->n == HODO_PROBE_POINTS_MAX)
		return hodo_why(r->why, -EINVAL, "more than %u places", HODO_PROBE_POINTS_MAX);
	at = hodo_elf_symbols_at(s, address);
	p = hodo_vec_add(r->points->list, r->points->n);
	if (!p)
		return -ENOMEM;
	p->address = address;
	p->inlined = inlined;
	p->function = at == HODO_ELF_NONE ? "" : s->list[at].name;
	p->start = at == HODO_ELF_NONE ? start_of(r->image, address) : s->list[at].start;
	p->entry = p->start == address && !inlined;
	p->result = r->spec->place == HODO_SPEC_RETURN;
	return 0;
}

static int add_inlined(void *arg, uint64_t address, const char *function, Dwarf_Off die)
{
	struct resolving *r = arg;
	int err;

	if (r->spec->place == HODO_SPEC_RETURN) {
		r->points->inlined++;
		return 0;
	}
	err = add(r, address, function);
	if (!err)
		r->points->list[r->points->n - 1].copy = die;
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct hodo_probe_point *x = a, *y = b;

	return hodo_order(x->address, y->address) ?: (x->inlined != NULL) - (y->inlined != NULL);
}

/* Sorts them and drops duplicates. */
static void settle(struct hodo_probe_points *p)
{
	uint32_t n = 0;

	hodo_order_sort(p->list, p->n, by_address);
	for (uint32_t i = 0; i < p->n; i++)
		if (!n || p->list[n - 1].address != p->list[i].address)
			p->list[n++] = p->list[i];
	p->n = n;
}

/* ------------------------------------------------------------------------- functions */

/* Functions with these names; cold: counts parts without an entry, which are left out. */
static int add_functions(struct resolving *r, const struct hodo_probe_name *names, unsigned *cold)
{
	const struct hodo_elf_symbols *s = &r->image->object.symbols;
	int err = 0;

	for (uint32_t i = 0; i < s->n && !err; i = hodo_elf_symbols_next(s, i)) {
		const char *name;

		if (!hodo_probe_name_match_function(names, s, i, &name))
			continue;
		if (strstr(s->list[i].name, ".cold"))
			++*cold;
		else if (hodo_probe_image_is_code(r->image, s->list[i].start))
			err = add(r, s->list[i].start, NULL);
	}
	return err;
}

static int no_function(struct resolving *r, const char *name, unsigned cold)
{
	const struct hodo_elf_symbols *s = &r->image->object.symbols;
	struct hodo_near near = { .wanted = name };

	if (cold)
		return hodo_why(r->why, -EINVAL, "%s is a part that the compiler split off its function: it has no "
				"entry", name);
	if (!s->n)
		return hodo_why(r->why, -EINVAL, "the file has no symbols: name an address, or install its -dbgsym "
				"or -dbg package");
	if (hodo_spec_is_glob(name))
		return hodo_why(r->why, -EINVAL, "no function matches %s", name);
	for (uint32_t i = 0; i < s->n; i++) {
		char *shown = hodo_elf_demangle_brief(s->list[i].name, false);

		if (!shown)
			return -ENOMEM;
		hodo_near_look(&near, shown);
		free(shown);
	}
	return hodo_why(r->why, -EINVAL, "there is no function %s%s%s", name, hodo_near_text(&near),
			near.n || s->full ? "" : ": the file is stripped, and those that are not exported need its -dbgsym or -dbg package");
}

static int find_functions(struct resolving *r)
{
	const struct hodo_spec *s = r->spec;
	struct hodo_probe_name names;
	unsigned cold = 0;
	int err = 0;

	if (s->whole) {
		hodo_probe_name_begin(&names, s->whole, true);
		err = add_functions(r, &names, &cold);
	}
	if (!err && r->points->n && s->whole && r->values == s->values)
		r->nvalues = 0; /* they are parameters' types */
	if (!err && !r->points->n) {
		if (s->flaw.text[0])
			return hodo_why(r->why, -EINVAL, "%s", s->flaw.text);
		hodo_probe_name_begin(&names, s->name, false);
		err = add_functions(r, &names, &cold);
	}
	if (!err && s->place == HODO_SPEC_OFFSET) {
		if (r->points->n > 1)
			return hodo_why(r->why, -EINVAL, "%s names %u functions, and an offset needs one: give the "
					"address", s->name, r->points->n);
		if (r->points->n) {
			r->points->list[0].address += s->number;
			r->points->list[0].entry = !s->number;
		}
	} else if (!err) {
		err = hodo_inlined_each(r->image, &names, add_inlined, r);
	}
	if (!err && !r->points->n && r->points->inlined)
		return hodo_why(r->why, -EINVAL, "%s is inlined everywhere, in %u places: it has no returns", s->name,
				r->points->inlined);
	return err ? err : r->points->n ? 0 : no_function(r, s->name, cold);
}

/* ----------------------------------------------------------------------- other places */

static int find_line(struct resolving *r)
{
	struct hodo_source_line l = { .file = r->spec->name, .line = r->spec->number };
	int err;

	if (!r->image->debug.dwarf)
		return hodo_why(r->why, -EINVAL,
				"%s:%" PRIu64 ": the file has no debug information, which lines need: install its -dbgsym or -dbg package, or build with -g",
				l.file, l.line);
	err = hodo_source_line_find(&l, r->image);
	for (uint32_t i = 0; i < l.n && !err; i++)
		err = add(r, l.addresses[i], NULL);
	free(l.addresses);
	if (err || l.n)
		return err;
	if (!l.file_known)
		return hodo_why(r->why, -EINVAL, "there is no code from a file %s%s", l.file,
				hodo_near_text(&l.near));
	if (!l.next)
		return hodo_why(r->why, -EINVAL,
				"line %" PRIu64 " of %s has no code, and neither has any line after it", l.line,
				l.file);
	return hodo_why(r->why, -EINVAL,
			"line %" PRIu64 " of %s has no code: the next line that has some is %s:%" PRIu64, l.line,
			l.file, l.file, l.next);
}

/* Checks that a given address is in code. */
static int check(struct resolving *r)
{
	const struct hodo_probe_point *p = &r->points->list[0];
	const struct hodo_elf_symbols *s = &r->image->object.symbols;
	uint32_t at = hodo_elf_symbols_at(s, p->address);

	if (r->spec->place == HODO_SPEC_OFFSET && (at == HODO_ELF_NONE || s->list[at].start != p->start))
		return hodo_why(r->why, -EINVAL, "%s+0x%" PRIx64 " is beyond the end of the function", r->spec->name,
				r->spec->number);
	if (!hodo_probe_image_is_code(r->image, p->address))
		return hodo_why(r->why, -EINVAL, "0x%" PRIx64 " is not code of the file", p->address);
	return 0;
}

/* ------------------------------------------------------------------------------ fields */

/* For hodo_probe_field_make(): the place of a point. */
static void scope_of(const struct hodo_probe_point *p, const struct hodo_probe_image *i, struct hodo_scope *s)
{
	hodo_scope_open(s, i, p->address, p->entry, p->function);
	if (p->inlined)
		hodo_scope_enter(s, p->copy);
}

static bool is_taken(const struct hodo_probe_point *p, uint32_t before, const char *name)
{
	for (uint32_t i = 0; i < before; i++)
		if (strcmp(p->fields[i].name, name) == 0)
			return true;
	return false;
}

/* Makes names valid for fields and unique: n, n_2, n_3. */
static int name_field(struct hodo_probe_point *p, uint32_t at)
{
	char *plain = p->fields[at].name;

	for (unsigned n = 2; is_taken(p, at, p->fields[at].name) && n < 100; n++) {
		char *other;

		if (asprintf(&other, "%s_%u", plain, n) < 0)
			return -ENOMEM;
		if (p->fields[at].name != plain)
			free(p->fields[at].name);
		p->fields[at].name = other;
	}
	if (p->fields[at].name != plain)
		free(plain);
	return 0;
}

static int add_field(struct resolving *r, struct hodo_probe_point *p, const struct hodo_scope *s,
		     const struct hodo_spec_value *v)
{
	struct hodo_probe_field *f;
	int err;

	if (p->nfields == r->most)
		return hodo_why(r->why, -EINVAL, "more than %u values", r->most);
	f = hodo_vec_add(p->fields, p->nfields);
	if (!f)
		return -ENOMEM;
	err = hodo_probe_field_make(f, s, p->result, v, r->why);
	if (err)
		hodo_probe_field_free(&p->fields[--p->nfields]);
	return err ? err : name_field(p, p->nfields - 1);
}

/* A field that says why it has no value. */
static int add_missing(struct resolving *r, struct hodo_probe_point *p, const char *name, const struct hodo_ctype *type,
		       enum hodo_missing why)
{
	struct hodo_probe_field *f;

	if (p->nfields == r->most)
		return hodo_why(r->why, -EINVAL, "more than %u values", r->most);
	f = hodo_vec_add(p->fields, p->nfields);
	if (!f)
		return -ENOMEM;
	return hodo_probe_field_missing(f, name, type, why) ? -ENOMEM : name_field(p, p->nfields - 1);
}

struct all {
	struct resolving *r;
	struct hodo_probe_point *point;
	const struct hodo_scope *scope;
	bool parameters;
};

/* $args, $locals: one with members is included without a value. */
static int add_variable(void *arg, Dwarf_Die *die, int depth)
{
	struct all *a = arg;
	struct hodo_spec_value v = { .expr.base = HODO_SPEC_NAME };
	bool parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
	struct hodo_ctype type;
	int err;

	(void)depth;
	v.text = v.name = v.expr.name = dwarf_diename(die);
	if (!v.name || parameter != a->parameters || is_taken(a->point, a->point->nfields, v.name))
		return 0;
	if (!hodo_ctype_of(die, &type))
		return 0;
	err = add_field(a->r, a->point, a->scope, &v);
	if (err != -EINVAL || a->point->nfields == a->r->most)
		return err;
	return add_missing(a->r, a->point, v.name, &type, HODO_PARTS);
}

/* All that is available without debug information. */
static int add_registers(struct resolving *r, struct hodo_probe_point *p, const struct hodo_scope *s)
{
	int err = 0;

	for (unsigned i = 1; i <= HODO_ABI_INTEGERS && !err; i++) {
		char name[8];
		struct hodo_spec_value v = { .text = name, .name = name };

		v.expr.base = HODO_SPEC_ARG;
		v.expr.number = i;
		snprintf(name, sizeof(name), "arg%u", i);
		err = add_field(r, p, s, &v);
	}
	return err;
}

static int add_value(struct resolving *r, struct hodo_probe_point *p, const struct hodo_scope *s,
		     const struct hodo_spec_value *v)
{
	struct all all = { r, p, s, v->expr.base == HODO_SPEC_ARGS };

	if (v->expr.base != HODO_SPEC_ARGS && v->expr.base != HODO_SPEC_LOCALS)
		return add_field(r, p, s, v);
	if (p->result)
		return hodo_why(r->why, -EINVAL, "at a return only $retval and registers are known: record %s at the "
				"entry", v->expr.name);
	if (!s->n && r->values != r->spec->values)
		return all.parameters ? add_registers(r, p, s) : 0;
	if (!s->n)
		return hodo_why(r->why, -EINVAL, "%s needs debug information: install the -dbgsym or -dbg package, "
				"or build with -g", v->expr.name);
	return hodo_scope_variables(s, false, add_variable, &all);
}

/* A function's result, if it has one. */
static int add_result(struct resolving *r, struct hodo_probe_point *p, const struct hodo_scope *s)
{
	static const struct hodo_spec_value result = { .text = "$retval", .name = "retval",
						       .expr = { .base = HODO_SPEC_RETVAL, .name = "$retval" } };
	struct hodo_ctype type;
	Dwarf_Die function;
	int err;

	if (!s->n)
		return 0;
	function = s->chain[0];
	if (!hodo_ctype_of(&function, &type))
		return 0;
	err = add_field(r, p, s, &result);
	return err == -EINVAL ? add_missing(r, p, "retval", &type, HODO_PARTS) : err;
}

/* some: a value not known here is marked missing, since other places have it; else that is an error. */
static int add_fields(struct resolving *r, struct hodo_probe_point *p, bool some)
{
	struct hodo_scope scope;
	int err = 0;

	for (uint32_t i = 0; i < p->nfields; i++)
		hodo_probe_field_free(&p->fields[i]);
	p->nfields = 0;
	scope_of(p, r->image, &scope);
	/* A return without a list has the result, if any. */
	if (p->result && !r->spec->listed)
		return add_result(r, p, &scope);
	for (uint32_t i = 0; i < r->nvalues && !err; i++) {
		err = add_value(r, p, &scope, &r->values[i]);
		if ((err == -ENOENT || err == -EINVAL) && some)
			err = add_missing(r, p, r->values[i].name, NULL, HODO_UNKNOWN);
	}
	return err;
}

static int make_fields(struct resolving *r)
{
	uint32_t good = 0;
	int err = 0, one;

	for (uint32_t i = 0; i < r->points->n; i++) {
		one = add_fields(r, &r->points->list[i], false);
		if (one && one != -ENOENT && one != -EINVAL)
			return one;
		good += one == 0;
		err = one ? one : err;
	}
	if (!err || !good)
		return err ? -EINVAL : 0;
	for (uint32_t i = 0; i < r->points->n; i++) {
		one = add_fields(r, &r->points->list[i], true);
		if (one)
			return one;
	}
	return 0;
}

static int resolve(struct resolving *r)
{
	const struct hodo_spec *s = r->spec;
	int err;

	*r->points = (struct hodo_probe_points){ 0 };
	*r->why->text = 0;
	if (s->place == HODO_SPEC_LINE)
		err = find_line(r);
	else if (s->place == HODO_SPEC_ADDRESS)
		err = add(r, s->number, NULL);
	else
		err = find_functions(r);
	if (!err && (s->place == HODO_SPEC_ADDRESS || s->place == HODO_SPEC_OFFSET))
		err = check(r);
	if (err)
		return err;
	settle(r->points);
	return make_fields(r);
}

int hodo_probe_resolve(struct hodo_probe_points *p, const struct hodo_probe_image *i, const struct hodo_spec *s,
		       struct hodo_why *why)
{
	struct resolving r = { p, i, s, s->values, s->nvalues, HODO_SPEC_VALUES_MAX, why };

	return resolve(&r);
}

int hodo_probe_resolve_all(struct hodo_probe_points *p, const struct hodo_probe_image *i, const struct hodo_spec *s,
			   struct hodo_why *why)
{
	static const struct hodo_spec_value all[] = {
		{ .text = "$args", .name = "args", .expr = { .base = HODO_SPEC_ARGS, .name = "$args" } },
		{ .text = "$locals", .name = "locals", .expr = { .base = HODO_SPEC_LOCALS, .name = "$locals" } },
	};
	struct resolving r = { p, i, s, all, 2, UINT32_MAX, why };

	if (s->place == HODO_SPEC_RETURN)
		r.nvalues = 0;
	return resolve(&r);
}

void hodo_probe_points_free(struct hodo_probe_points *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t k = 0; k < p->list[i].nfields; k++)
			hodo_probe_field_free(&p->list[i].fields[k]);
		free(p->list[i].fields);
	}
	free(p->list);
	*p = (struct hodo_probe_points){ 0 };
}
