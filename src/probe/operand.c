/* SPDX-License-Identifier: MIT */
/* operand.c - see operand.h. */
#include "operand.h"

#include <errno.h>
#include <hodo/abi.h>
#include <stdio.h>

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

/* A whole register; those of 32 bits make addresses of 32 bits, and rip is of no use without a symbol. */
static bool is_general(const struct hodo_sdt_register *r)
{
	return r->kind == HODO_SDT_GENERAL && r->bytes == 8;
}

static bool memory(struct hodo_fetch *f, const struct hodo_sdt_arg *a, unsigned bytes)
{
	bool fs = a->segment.kind == HODO_SDT_SEGMENT && a->segment.number == FS;
	bool base = a->base.kind != HODO_SDT_NONE, index = a->index.kind != HODO_SDT_NONE, done;

	if (a->symbol || (a->segment.kind != HODO_SDT_NONE && !fs) || (base && !is_general(&a->base)) ||
	    (index && !is_general(&a->index)))
		return false;
	if (fs)
		done = hodo_fetch_start(f, HODO_FETCH_THREAD, 0, 0);
	else if (base)
		done = hodo_fetch_start(f, HODO_FETCH_REGISTER, hodo_fetch_general(a->base.number), 0);
	else
		done = hodo_fetch_start(f, HODO_FETCH_CONSTANT, 0, 0);
	if (done && fs && base)
		done = hodo_fetch_index(f, hodo_fetch_general(a->base.number), 1);
	if (done && index)
		done = hodo_fetch_index(f, hodo_fetch_general(a->index.number), a->scale ? a->scale : 1);
	done = done && hodo_fetch_add(f, a->offset);
	hodo_fetch_mapped(f, -ANYWHERE, ANYWHERE);
	return done && hodo_fetch_load(f, bytes, false);
}

static bool fetch(struct hodo_fetch *f, const struct hodo_sdt_arg *a)
{
	unsigned bytes = a->size ? a->size : 8;

	switch (a->form) {
	case HODO_SDT_CONSTANT:
		return !a->symbol && hodo_fetch_start(f, HODO_FETCH_CONSTANT, 0, a->offset);
	case HODO_SDT_REGISTER:
		if (a->reg.kind == HODO_SDT_VECTOR)
			return a->reg.number < 16 && bytes >= 4 &&
			       hodo_fetch_start(f, HODO_FETCH_REGISTER, HODO_FETCH_XMM0 + a->reg.number, 0);
		return a->reg.kind == HODO_SDT_GENERAL &&
		       hodo_fetch_start(f, HODO_FETCH_REGISTER, hodo_fetch_general(a->reg.number), 0) &&
		       (!a->reg.shift || hodo_fetch_bits(f, a->reg.shift, 8, false));
	case HODO_SDT_MEMORY:
		return memory(f, a, bytes);
	default:
		return false;
	}
}

int hodo_probe_operand(struct hodo_probe_field *f, const struct hodo_sdt_arg *a, unsigned n)
{
	*f = (struct hodo_probe_field){ .type = type_of(a) };
	if (f->type == HODO_TYPE_NONE || !fetch(&f->fetch, a))
		return -ENOENT;
	return asprintf(&f->name, "arg%u", n) < 0 ? -ENOMEM : 0;
}
