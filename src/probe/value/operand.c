/* SPDX-License-Identifier: MIT */
/* operand.c - see operand.h. */
#include "operand.h"

#include <errno.h>
#include <hodo/abi.h>
#include <stdio.h>

#include <elf/symbols.h>

#define FS 4
#define ANYWHERE (INT64_MAX / 4)

static uint8_t type_of(const struct hodo_sdt_arg *a)
{
	if (a->is_float)
		return a->size == 4 ? HODO_TYPE_F32 : a->size == 8 ? HODO_TYPE_F64 : HODO_TYPE_NONE;
	switch (a->size) {
	case 1: return a->is_signed ? HODO_TYPE_I8 : HODO_TYPE_U8;
	case 2: return a->is_signed ? HODO_TYPE_I16 : HODO_TYPE_U16;
	case 4: return a->is_signed ? HODO_TYPE_I32 : HODO_TYPE_U32;
	case 8:
	case 0: return a->is_signed ? HODO_TYPE_I64 : HODO_TYPE_U64;
	default: return HODO_TYPE_NONE;
	}
}

/* A whole register; 32-bit ones make 32-bit addresses, and rip is useless without a symbol. */
static bool is_general(const struct hodo_sdt_register *r)
{
	return r->kind == HODO_SDT_GENERAL && r->bytes == 8;
}

/*
 * The start of the sum: a segment's base, a symbol, a register, or nothing. *base: a register not added yet. The thread's
 * and the object's own data are mapped. What a register points to need not be: the compiler may give the place of p->n
 * where p is NULL, since nothing reads it there.
 */
static bool start(struct hodo_fetch *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame, bool *base)
{
	uint64_t address;
	unsigned reg;

	if (a->segment.kind != HODO_SDT_NONE) {
		if (a->segment.kind != HODO_SDT_SEGMENT || a->segment.number != FS || a->symbol ||
		    !hodo_fetch_start(f, HODO_FETCH_THREAD, 0, 0))
			return false;
		hodo_fetch_mapped(f, -ANYWHERE, ANYWHERE);
		return true;
	}
	if (a->symbol) {
		*base = *base && a->base.kind != HODO_SDT_RIP;
		if (!hodo_elf_find_address(e->elf, a->symbol, a->symbol_len, &address) ||
		    !hodo_fetch_start(f, HODO_FETCH_ADDRESS, 0, (int64_t)address))
			return false;
		hodo_fetch_mapped(f, -ANYWHERE, ANYWHERE);
		return true;
	}
	if (!*base)
		return hodo_fetch_start(f, HODO_FETCH_CONSTANT, 0, 0);
	*base = false;
	reg = hodo_fetch_general(a->base.number);
	if (!is_general(&a->base) || !hodo_fetch_start(f, HODO_FETCH_REGISTER, reg, 0))
		return false;
	if (frame && reg == HODO_FETCH_RBP)
		hodo_fetch_frame(f);
	return true;
}

static bool memory(struct hodo_fetch *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame,
		   unsigned bytes)
{
	bool base = a->base.kind != HODO_SDT_NONE, index = a->index.kind != HODO_SDT_NONE;
	bool done = start(f, e, a, frame, &base);

	if (done && base)
		done = is_general(&a->base) && hodo_fetch_index(f, hodo_fetch_general(a->base.number), 1);
	if (done && index)
		done = is_general(&a->index) &&
		       hodo_fetch_index(f, hodo_fetch_general(a->index.number), a->scale ? a->scale : 1);
	done = done && hodo_fetch_add(f, a->offset);
	return done && hodo_fetch_load(f, bytes, false);
}

static bool fetch(struct hodo_fetch *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame)
{
	unsigned bytes = a->size ? a->size : 8;
	bool none = false;

	switch (a->form) {
	case HODO_SDT_CONSTANT:
		return start(f, e, a, frame, &none) && hodo_fetch_add(f, a->offset);
	case HODO_SDT_REGISTER:
		if (a->reg.kind == HODO_SDT_VECTOR)
			return a->reg.number < 16 && bytes >= 4 &&
			       hodo_fetch_start(f, HODO_FETCH_REGISTER, HODO_FETCH_XMM0 + a->reg.number, 0);
		return a->reg.kind == HODO_SDT_GENERAL &&
		       hodo_fetch_start(f, HODO_FETCH_REGISTER, hodo_fetch_general(a->reg.number), 0) &&
		       (!a->reg.shift || hodo_fetch_bits(f, a->reg.shift, 8, false));
	case HODO_SDT_MEMORY:
		return memory(f, e, a, frame, bytes);
	default:
		return false;
	}
}

int hodo_probe_operand(struct hodo_probe_field *f, const struct hodo_elf *e, const struct hodo_sdt_arg *a, bool frame,
		       unsigned n)
{
	*f = (struct hodo_probe_field){ .type = type_of(a) };
	if (f->type == HODO_TYPE_NONE || !fetch(&f->fetch, e, a, frame))
		return -ENOENT;
	return asprintf(&f->name, "arg%u", n) < 0 ? -ENOMEM : 0;
}
