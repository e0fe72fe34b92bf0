/* SPDX-License-Identifier: MIT */
/* operand.c - see operand.h. */
#include "operand.h"

#include <hodo/abi.h>
#include <stdio.h>

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

static uint8_t general(const struct hodo_sdt_register *r)
{
	return r->kind == HODO_SDT_GENERAL ? r->number : HODO_PROBE_NO_REGISTER;
}

static bool memory(struct hodo_probe_operand *v, const struct hodo_sdt_arg *a)
{
	v->form = HODO_PROBE_MEMORY;
	v->fs = a->segment.kind == HODO_SDT_SEGMENT && a->segment.number == 4;
	v->base = general(&a->base);
	v->index = general(&a->index);
	v->scale = a->scale ? a->scale : 1;
	/* rip alone is of no use without a symbol; registers of 32 bits make addresses of 32 bits. */
	return !a->symbol && (a->segment.kind == HODO_SDT_NONE || v->fs) && a->base.kind != HODO_SDT_RIP &&
	       (a->base.kind == HODO_SDT_NONE || a->base.bytes == 8) &&
	       (a->index.kind == HODO_SDT_NONE || (a->index.bytes == 8 && v->index != 4));
}

bool hodo_probe_operand_sdt(struct hodo_probe_operand *v, const struct hodo_sdt_arg *a, unsigned n, uint64_t bias)
{
	(void)bias;
	*v = (struct hodo_probe_operand){ .type = type_of(a), .bytes = a->size ? a->size : 8, .offset = a->offset,
					.base = HODO_PROBE_NO_REGISTER, .index = HODO_PROBE_NO_REGISTER };
	snprintf(v->name, sizeof(v->name), "arg%u", n);
	if (v->type == HODO_TYPE_NONE)
		return false;
	switch (a->form) {
	case HODO_SDT_CONSTANT: return !a->symbol;
	case HODO_SDT_REGISTER:
		v->form = a->reg.kind == HODO_SDT_VECTOR ? HODO_PROBE_VECTOR : HODO_PROBE_REGISTER;
		v->base = a->reg.number;
		v->shift = a->reg.shift;
		return a->reg.kind == HODO_SDT_GENERAL ||
		       (a->reg.kind == HODO_SDT_VECTOR && a->reg.number < 16 && v->bytes >= 4);
	case HODO_SDT_MEMORY: return memory(v, a);
	default: return false;
	}
}
