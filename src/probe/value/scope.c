/* SPDX-License-Identifier: MIT */
/* scope.c - the functions and blocks that contain an address, and their variables; see location.h. */
#include "location.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include <core/symbol_name.h>

#include <probe/code/object.h>

#define DEPTH_MAX 64u /* of namespaces, classes and blocks */

/* --------------------------------------------------------------------------- scopes */

static bool is_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Entries that contain functions, and have no addresses. */
static bool is_room(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_module;
}

/*
 * Adds the entries below `die` that contain the address; deep: also searches functions that do not contain it
 * for nested ones.
 */
static bool descend(struct hodo_scope *s, Dwarf_Die *die, bool deep, unsigned depth)
{
	if (depth == DEPTH_MAX)
		return false;
	for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, die);) {
		int tag = dwarf_tag(&c.die);

		if (is_code(tag) && dwarf_haspc(&c.die, s->pc) == 1) {
			if (s->n < HODO_SCOPES_MAX)
				s->chain[s->n++] = c.die;
			descend(s, &c.die, false, depth + 1);
			return true;
		}
		if ((is_room(tag) || (deep && is_code(tag))) && descend(s, &c.die, deep, depth + 1))
			return true;
	}
	return false;
}

static bool is_split(const struct hodo_probe_image *i, uint64_t pc)
{
	Dwarf_Attribute a;
	Dwarf_Die unit;

	return hodo_elf_dwarf_unit(&i->debug, pc, 0, &unit) &&
	       (dwarf_attr(&unit, DW_AT_dwo_name, &a) || dwarf_attr(&unit, DW_AT_GNU_dwo_name, &a));
}

static bool is_gnu(Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_formstring(dwarf_attr_integrate(unit, DW_AT_producer, &a));

	return producer && strncmp(producer, "GNU ", 4) == 0;
}

bool hodo_frame_pointer_at(Dwarf_CFI *cfi, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;
	bool has;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
		return false;
	has = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 &&
	      (ops[0].atom == DW_OP_breg0 + HODO_FETCH_RBP ||
	       (ops[0].atom == DW_OP_bregx && ops[0].number == HODO_FETCH_RBP));
	free(frame);
	return has;
}

static void look_at_function(struct hodo_scope *s)
{
	Dwarf_Die function;
	Dwarf_Attribute a;
	Dwarf_Addr start;
	Dwarf_Op *ops;
	size_t n;

	if (!s->n)
		return;
	function = s->chain[0];
	s->entry |= dwarf_entrypc(&function, &start) == 0 && start == s->pc;
	/* Inlined functions and blocks begin after the entry. */
	if (s->entry)
		s->n = 1;
	s->by_cfa = dwarf_attr_integrate(&function, DW_AT_frame_base, &a) &&
		    dwarf_getlocation_addr(&a, s->pc, &ops, &n, 1) == 1 && n == 1 &&
		    ops[0].atom == DW_OP_call_frame_cfa;
}

void hodo_scope_open(struct hodo_scope *s, const struct hodo_probe_image *i, uint64_t pc, bool entry,
		     const char *symbol)
{
	size_t len = symbol ? strlen(symbol) : 0;

	*s = (struct hodo_scope){ .image = i, .pc = pc, .entry = entry };
	for (unsigned k = 0; i->debug.dwarf && !s->n && hodo_elf_dwarf_unit(&i->debug, pc, k, &s->unit); k++)
		if (!descend(s, &s->unit, false, 0))
			descend(s, &s->unit, true, 0);
	s->gnu = s->n && is_gnu(&s->unit);
	s->split = i->debug.dwarf && !s->n && is_split(i, pc);
	look_at_function(s);
	if (s->entry && i->code)
		s->slot_end = hodo_probe_entry_slot_end(i->code, pc);
	s->clone = symbol && hodo_symbol_without_suffix(symbol, len) != len;
	s->frame = !s->entry && hodo_frame_pointer_at(s->image->frames, s->pc);
}

void hodo_scope_enter(struct hodo_scope *s, Dwarf_Off copy)
{
	Dwarf_Die die;

	for (unsigned i = 0; i < s->n; i++)
		if (dwarf_dieoffset(&s->chain[i]) == copy) {
			s->n = i + 1; /* functions inlined into it begin after its entry */
			return;
		}
	if (s->n && s->n < HODO_SCOPES_MAX && dwarf_offdie(s->image->debug.dwarf, copy, &die))
		s->chain[s->n++] = die;
}

/* ------------------------------------------------------------------------ variables */

static int each_of(Dwarf_Die *of, int depth, hodo_variable_fn each, void *arg)
{
	int err = 0;

	for (struct hodo_elf_child c = { 0 }; !err && hodo_elf_child_next(&c, of);) {
		int tag = dwarf_tag(&c.die);

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			err = each(arg, &c.die, depth);
		else if (depth < 0 && tag == DW_TAG_namespace && depth > -8)
			err = each_of(&c.die, depth - 1, each, arg);
	}
	return err;
}

int hodo_scope_variables(const struct hodo_scope *s, bool files, hodo_variable_fn each, void *arg)
{
	int err = 0;

	for (unsigned i = s->n; i-- > 0 && !err;) {
		Dwarf_Die die = s->chain[i], origin;
		Dwarf_Attribute a;

		err = each_of(&die, (int)i, each, arg);
		/* Variables left out of this copy are still in the original. */
		if (!err && dwarf_attr(&die, DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &origin))
			err = each_of(&origin, (int)i, each, arg);
	}
	if (!err && files && s->n) {
		Dwarf_Die unit = s->unit;

		err = each_of(&unit, -1, each, arg);
	}
	return err;
}

struct search {
	const char *name;
	Dwarf_Die *found;
	bool have;
};

static int look(void *arg, Dwarf_Die *die, int depth)
{
	struct search *s = arg;
	const char *name = dwarf_diename(die);
	Dwarf_Attribute a;

	if (!name || strcmp(name, s->name) != 0)
		return 0;
	*s->found = *die;
	s->have = true;
	/* Prefer the definition to a declaration. */
	return depth >= 0 || dwarf_attr(die, DW_AT_location, &a) || dwarf_attr(die, DW_AT_const_value, &a);
}

bool hodo_scope_find(const struct hodo_scope *s, const char *name, Dwarf_Die *die)
{
	const char *last = strstr(name, "::");
	struct search search = { .name = name, .found = die };

	for (const char *more = last; more; more = strstr(more, "::"))
		search.name = more += 2;
	hodo_scope_variables(s, true, look, &search);
	return search.have;
}

bool hodo_scope_parameter(const struct hodo_scope *s, unsigned n, Dwarf_Die *die)
{
	Dwarf_Die function;

	if (!s->n)
		return false;
	function = s->chain[0];
	for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, &function);)
		if (dwarf_tag(&c.die) == DW_TAG_formal_parameter && --n == 0) {
			*die = c.die;
			return true;
		}
	return false;
}

/* ----------------------------------------------------------------------------- where */

/* Whether it is in a frame that does not exist yet: in the function's own part of the stack. */
static bool in_own_frame(const struct hodo_scope *s, const struct hodo_where *w)
{
	const struct hodo_fetch *f = &w->piece[0].fetch;
	const struct hodo_fetch_step *first = &f->step[0];

	if (w->missing || !w->n || !w->piece[0].memory || !f->n || first->op != HODO_FETCH_REGISTER)
		return false;
	/* Above the return address is what the caller put there; at the entry, only the CFA is reliable. */
	if (first->reg == HODO_FETCH_RSP && s->by_cfa)
		return f->n < 2 || f->step[1].op != HODO_FETCH_ADD || f->step[1].number < 8;
	return first->reg == HODO_FETCH_RBP || first->reg == HODO_FETCH_RSP;
}

static bool constant(Dwarf_Die *die, struct hodo_where *w)
{
	Dwarf_Attribute a;
	Dwarf_Sword number;
	Dwarf_Block block;
	uint64_t bits = 0;
	struct hodo_fetch f;

	if (!dwarf_attr_integrate(die, DW_AT_const_value, &a))
		return false;
	if (dwarf_formsdata(&a, &number) == 0) {
		bits = (uint64_t)number;
	} else if (dwarf_formblock(&a, &block) == 0 && block.length <= 8) {
		for (size_t i = 0; i < block.length; i++)
			bits |= (uint64_t)block.data[i] << 8 * i;
	} else {
		return false;
	}
	hodo_fetch_start(&f, HODO_FETCH_CONSTANT, 0, (int64_t)bits);
	hodo_where_is(w, &f, false);
	return true;
}

/* Whether it is one of the function's own parameters, and not of something inlined. */
static bool is_own_parameter(const struct hodo_scope *s, Dwarf_Die *variable)
{
	Dwarf_Die function = s->chain[0];

	for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, &function);)
		if (dwarf_dieoffset(&c.die) == dwarf_dieoffset(variable))
			return dwarf_tag(variable) == DW_TAG_formal_parameter;
	return false;
}

void hodo_scope_where(const struct hodo_scope *s, Dwarf_Die *variable, struct hodo_where *w)
{
	Dwarf_Die function;
	Dwarf_Attribute a;
	bool early, own;

	if (dwarf_attr_integrate(variable, DW_AT_location, &a))
		hodo_location(s, &a, w);
	else if (!constant(variable, w))
		hodo_where_missing(w, HODO_REMOVED);
	if (!s->entry || !s->n)
		return;
	early = in_own_frame(s, w);
	own = is_own_parameter(s, variable);
	/*
	 * Debug information may only describe the code after the prologue. If it has nothing, GCC's callers
	 * have still passed the parameter, except to a clone; Clang's need not.
	 */
	if (own && !s->clone && (early || (s->gnu && (w->missing || w->piece[0].bytes != UINT64_MAX)))) {
		function = s->chain[0];
		hodo_abi_parameter(&function, variable, w);
	} else if (early) {
		hodo_where_missing(w, own ? HODO_REMOVED : HODO_NOT_YET);
	}
}
