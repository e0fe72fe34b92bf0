/* SPDX-License-Identifier: MIT */
/* location.c - DWARF's location expressions as fetch programs; see location.h. */
#include "location.h"

#include <dwarf.h>
#include <stdlib.h>

#define DEPTH_MAX 4u /* nested expressions: of a variable, its frame base, the frame's description */

static const struct {
	const char *key, *text;
} missing[HODO_MISSINGS] = {
	[HODO_THERE] = { "there", "is there" },
	[HODO_REMOVED] = { "removed", "removed by the compiler here" },
	[HODO_ENTRY_ONLY] = { "entry-only", "removed by the compiler after the entry: probe the function's "
			     "entry" },
	[HODO_NOT_YET] = { "not-yet", "has no value yet at the entry: probe a line" },
	[HODO_THREAD] = { "thread", "thread-local (TLS), which probes cannot read" },
	[HODO_COMPUTED] = { "computed", "computed in a way that probes cannot follow" },
	[HODO_SCATTERED] = { "scattered", "in several places at once" },
	[HODO_TOO_WIDE] = { "too-wide", "wider than 8 bytes" },
	[HODO_NO_ABI] = { "no-abi", "passed in a way that the debug information does not say" },
	[HODO_UNKNOWN] = { "unknown", "no such value here" },
	[HODO_NOWHERE] = { "nowhere", "at an address that the file does not have" },
	[HODO_EXIT_ONLY] = { "exit-only", "known only at the function's exits: probe FUNCTION%return" },
	[HODO_PARTS] = { "parts", "not a single value: name a part of it, as in x.member, x[0] or (x, 16)" },
	[HODO_ELSEWHERE] = { "elsewhere", "returned by another function, which it jumps to" },
};

const char *hodo_missing_key(enum hodo_missing m)
{
	return missing[m < HODO_MISSINGS ? m : HODO_UNKNOWN].key;
}

const char *hodo_missing_text(enum hodo_missing m)
{
	return missing[m < HODO_MISSINGS ? m : HODO_UNKNOWN].text;
}

void hodo_where_missing(struct hodo_where *w, enum hodo_missing why)
{
	*w = (struct hodo_where){ .missing = (uint8_t)why };
}

void hodo_where_is(struct hodo_where *w, const struct hodo_fetch *f, bool memory)
{
	*w = (struct hodo_where){ .n = 1 };
	w->piece[0].bytes = UINT64_MAX;
	w->piece[0].memory = memory;
	w->piece[0].fetch = *f;
}

/* An expression: a stack machine, of which we track one value with steps and one constant above it. */
struct expression {
	const struct hodo_scope *scope;
	Dwarf_Attribute *attr; /* NULL: of a frame's description */
	struct hodo_fetch f;   /* n 0: the stack is empty */
	bool constant, value, in_register; /* there is a constant above; the result is the value itself */
	int64_t above;
	enum hodo_missing missing;
	unsigned depth;
};

static bool run(struct expression *x, const Dwarf_Op *ops, size_t n);

static bool stop(struct expression *x, enum hodo_missing why)
{
	x->missing = why;
	return false;
}

static bool step(struct expression *x, bool done)
{
	return done || stop(x, HODO_COMPUTED);
}

static bool push_constant(struct expression *x, uint64_t number)
{
	if (!x->f.n)
		return hodo_fetch_start(&x->f, HODO_FETCH_CONSTANT, 0, (int64_t)number);
	if (x->constant)
		return stop(x, HODO_COMPUTED);
	x->constant = true;
	x->above = (int64_t)number;
	return true;
}

static bool push_register(struct expression *x, uint64_t reg, int64_t offset)
{
	if (x->f.n || reg >= HODO_FETCH_REGISTERS)
		return stop(x, HODO_COMPUTED);
	hodo_fetch_start(&x->f, HODO_FETCH_REGISTER, (unsigned)reg, 0);
	if (reg == HODO_FETCH_RBP && x->scope->frame)
		hodo_fetch_frame(&x->f);
	return step(x, hodo_fetch_add(&x->f, offset));
}

static bool push_address(struct expression *x, uint64_t address)
{
	uint64_t before, behind;

	if (x->f.n)
		return stop(x, HODO_COMPUTED);
	if (!hodo_probe_image_segment(x->scope->image, address, PF_R, &before, &behind))
		return stop(x, HODO_NOWHERE);
	hodo_fetch_start(&x->f, HODO_FETCH_ADDRESS, 0, (int64_t)address);
	hodo_fetch_mapped(&x->f, before > INT32_MAX ? -INT32_MAX : -(int64_t)before,
			  behind > INT32_MAX ? INT32_MAX : (int64_t)behind);
	return true;
}

/* The canonical frame address, from the unwinder's description, or as at every entry. */
static bool push_cfa(struct expression *x)
{
	const struct hodo_scope *s = x->scope;
	Dwarf_CFI *cfi[2] = { s->image->frames, s->image->debug.dwarf ? dwarf_getcfi(s->image->debug.dwarf) : NULL };
	bool done = false;

	if (s->entry)
		return push_register(x, HODO_FETCH_RSP, 8);
	for (unsigned i = 0; i < 2 && !done; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t n;

		if (!cfi[i] || dwarf_cfi_addrframe(cfi[i], s->pc, &frame) != 0)
			continue;
		done = dwarf_frame_cfa(frame, &ops, &n) == 0 && n > 0 && run(x, ops, n);
		free(frame);
	}
	return done || stop(x, x->missing ? x->missing : HODO_COMPUTED);
}

static bool push_frame_base(struct expression *x, int64_t offset)
{
	Dwarf_Die function;
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (!x->scope->n)
		return stop(x, HODO_COMPUTED);
	function = x->scope->chain[0];
	if (!dwarf_attr_integrate(&function, DW_AT_frame_base, &a) ||
	    dwarf_getlocation_addr(&a, x->scope->pc, &ops, &n, 1) != 1 || !run(x, ops, n))
		return stop(x, x->missing ? x->missing : HODO_COMPUTED);
	x->in_register = x->value = false;
	return step(x, hodo_fetch_add(&x->f, offset));
}

/* A register's value at the entry: known only there. */
static bool push_entry_value(struct expression *x, const Dwarf_Op *op)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (!x->scope->entry)
		return stop(x, HODO_ENTRY_ONLY);
	if (!x->attr || dwarf_getlocation_attr(x->attr, op, &a) != 0 || dwarf_getlocation(&a, &ops, &n) != 0 || n != 1)
		return stop(x, HODO_COMPUTED);
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return push_register(x, ops[0].atom - DW_OP_reg0, 0);
	return stop(x, HODO_COMPUTED);
}

static bool push_indexed(struct expression *x, const Dwarf_Op *op)
{
	Dwarf_Attribute a;
	Dwarf_Addr address;

	if (!x->attr || dwarf_getlocation_attr(x->attr, op, &a) != 0 || dwarf_formaddr(&a, &address) != 0)
		return stop(x, HODO_COMPUTED);
	return push_address(x, address);
}

static bool implicit_value(struct expression *x, const Dwarf_Op *op)
{
	Dwarf_Block block;
	uint64_t number = 0;

	if (!x->attr || x->f.n || dwarf_getlocation_implicit_value(x->attr, op, &block) != 0)
		return stop(x, HODO_COMPUTED);
	if (block.length > 8)
		return stop(x, HODO_TOO_WIDE);
	for (size_t i = 0; i < block.length; i++)
		number |= (uint64_t)block.data[i] << 8 * i;
	x->value = true;
	return push_constant(x, number);
}

/* To an integer of that many bytes, as clang does for narrow parameters. */
static bool convert(struct expression *x, const Dwarf_Op *op)
{
	Dwarf_Attribute a;
	Dwarf_Word encoding;
	Dwarf_Die type;
	int bytes;

	if (op->number == 0) /* to one of 8 bytes */
		return step(x, x->f.n && !x->constant);
	if (!x->attr || !x->f.n || x->constant || dwarf_getlocation_die(x->attr, op, &type) != 0 ||
	    dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &a), &encoding) != 0)
		return stop(x, HODO_COMPUTED);
	bytes = dwarf_bytesize(&type);
	if ((encoding != DW_ATE_signed && encoding != DW_ATE_unsigned) || bytes < 1 || bytes > 8)
		return stop(x, HODO_COMPUTED);
	return step(x, hodo_fetch_bits(&x->f, 0, 8 * (unsigned)bytes, encoding == DW_ATE_signed));
}

/* On the two topmost values. */
static bool operate(struct expression *x, unsigned atom)
{
	uint64_t n = (uint64_t)x->above;

	if (!x->f.n || !x->constant)
		return stop(x, HODO_COMPUTED);
	x->constant = false;
	switch (atom) {
	case DW_OP_plus:
		return step(x, hodo_fetch_add(&x->f, (int64_t)n));
	case DW_OP_minus:
		return step(x, hodo_fetch_add(&x->f, (int64_t)-n));
	case DW_OP_and:
		return step(x, hodo_fetch_and(&x->f, n));
	case DW_OP_shl:
		return step(x, n < 64 && hodo_fetch_shift(&x->f, (unsigned)n));
	case DW_OP_shr:
	case DW_OP_shra:
		return step(x, n < 64 && hodo_fetch_bits(&x->f, (unsigned)n, 64 - (unsigned)n, atom == DW_OP_shra));
	default:
		return stop(x, HODO_COMPUTED);
	}
}

static bool run_one(struct expression *x, const Dwarf_Op *op)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push_constant(x, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(x, atom - DW_OP_breg0, (int64_t)op->number);
	if ((atom >= DW_OP_reg0 && atom <= DW_OP_reg31) || atom == DW_OP_regx) {
		x->in_register = x->value = true;
		return push_register(x, atom == DW_OP_regx ? op->number : atom - DW_OP_reg0, 0);
	}
	switch (atom) {
	case DW_OP_nop:
		return true;
	case DW_OP_addr:
		return push_address(x, op->number);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return push_indexed(x, op);
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s: case DW_OP_const4u:
	case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu: case DW_OP_consts:
		return push_constant(x, op->number);
	case DW_OP_bregx:
		return push_register(x, op->number, (int64_t)op->number2);
	case DW_OP_fbreg:
		return push_frame_base(x, (int64_t)op->number);
	case DW_OP_call_frame_cfa:
		return push_cfa(x);
	case DW_OP_plus_uconst:
		return step(x, !x->constant && hodo_fetch_add(&x->f, (int64_t)op->number));
	case DW_OP_deref:
		return step(x, !x->constant && hodo_fetch_load(&x->f, 8, false));
	case DW_OP_deref_size:
		return step(x, !x->constant && hodo_fetch_load(&x->f, (unsigned)op->number, false));
	case DW_OP_stack_value:
		x->value = true;
		return step(x, x->f.n && !x->constant);
	case DW_OP_convert:
	case DW_OP_GNU_convert:
		return convert(x, op);
	case DW_OP_implicit_value:
		return implicit_value(x, op);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry_value(x, op);
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
	case DW_OP_GNU_parameter_ref:
	case DW_OP_GNU_variable_value:
		return stop(x, HODO_REMOVED);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return stop(x, HODO_THREAD);
	default:
		return operate(x, atom);
	}
}

static bool run(struct expression *x, const Dwarf_Op *ops, size_t n)
{
	if (x->depth == DEPTH_MAX)
		return stop(x, HODO_COMPUTED);
	x->depth++;
	for (size_t i = 0; i < n; i++)
		/* A location in a register cannot be computed with. */
		if ((x->in_register && x->depth == 1) || !run_one(x, &ops[i]))
			return stop(x, x->missing ? x->missing : HODO_COMPUTED);
	x->depth--;
	return true;
}

/* One piece, of ops up to n, without DW_OP_piece itself. */
static void take_piece(const struct hodo_scope *s, Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t n,
		       struct hodo_where *w, uint64_t at, uint64_t bytes)
{
	struct expression x = { .scope = s, .attr = attr };

	if (w->n == HODO_WHERE_PIECES) {
		hodo_where_missing(w, HODO_SCATTERED);
		return;
	}
	w->piece[w->n].at = at;
	w->piece[w->n].bytes = bytes;
	if (!n)
		w->piece[w->n].missing = HODO_REMOVED;
	else if (!run(&x, ops, n) || !x.f.n || x.constant)
		w->piece[w->n].missing = (uint8_t)(x.missing ? x.missing : HODO_COMPUTED);
	w->piece[w->n].memory = !x.value;
	w->piece[w->n].fetch = x.f;
	w->n++;
}

void hodo_location(const struct hodo_scope *s, Dwarf_Attribute *location, struct hodo_where *w)
{
	size_t n, from = 0;
	Dwarf_Op *ops;
	uint64_t at = 0;

	*w = (struct hodo_where){ 0 };
	if ((dwarf_getlocation_addr(location, s->pc, &ops, &n, 1) != 1 || !n) &&
	    (!s->slot_end || dwarf_getlocation_addr(location, s->slot_end, &ops, &n, 1) != 1 || !n)) {
		hodo_where_missing(w, HODO_REMOVED);
		return;
	}
	for (size_t i = 0; i < n && !w->missing; i++) {
		if (ops[i].atom == DW_OP_bit_piece) {
			hodo_where_missing(w, HODO_SCATTERED);
		} else if (ops[i].atom == DW_OP_piece) {
			take_piece(s, location, ops + from, i - from, w, at, ops[i].number);
			at += ops[i].number;
			from = i + 1;
		}
	}
	if (!w->missing && from < n)
		take_piece(s, location, ops + from, n - from, w, at, UINT64_MAX - at);
	/* A single missing piece means that the whole is missing. */
	if (w->n == 1 && w->piece[0].missing)
		hodo_where_missing(w, w->piece[0].missing);
}
