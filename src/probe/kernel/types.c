/* SPDX-License-Identifier: MIT */
/* types.c - the types of the kernel's functions and structs, as libbpf reads them. */
#include "kernel_impl.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 32 /* typedefs of typedefs, anonymous structs in structs */

const struct btf_type *hodo_kprobe_type(const struct btf *btf, uint32_t *id)
{
	const struct btf_type *t = btf__type_by_id(btf, *id);

	for (int depth = 0; t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t)); depth++) {
		if (depth == DEPTH_MAX)
			return NULL;
		*id = t->type;
		t = btf__type_by_id(btf, *id);
	}
	return t;
}

static const char *name_of(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

/* ---------------------------------------------------------------- members */

static bool find(const struct btf *btf, const struct btf_type *t, const char *name, struct hodo_kprobe_member *found,
		 int depth)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t) && depth < DEPTH_MAX; i++) {
		const char *own = name_of(btf, m[i].name_off);
		uint32_t id = m[i].type, offset = btf_member_bit_offset(t, i);
		const struct btf_type *inner = *own ? NULL : hodo_kprobe_type(btf, &id);

		if (strcmp(own, name) == 0 && *own) {
			*found = (struct hodo_kprobe_member){ m[i].type, offset, btf_member_bitfield_size(t, i) };
			return true;
		}
		if (inner && btf_is_composite(inner) && find(btf, inner, name, found, depth + 1)) {
			found->offset_bits += offset;
			return true;
		}
	}
	return false;
}

bool hodo_kprobe_find_member(const struct btf *btf, const struct btf_type *t, const char *name,
			     struct hodo_kprobe_member *found)
{
	return find(btf, t, name, found, 0);
}

static void near_members(const struct btf *btf, const struct btf_type *t, struct hodo_near *near, int depth)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t) && depth < DEPTH_MAX; i++) {
		const char *own = name_of(btf, m[i].name_off);
		uint32_t id = m[i].type;
		const struct btf_type *inner = *own ? NULL : hodo_kprobe_type(btf, &id);

		if (*own)
			hodo_near_look(near, own);
		else if (inner && btf_is_composite(inner))
			near_members(btf, inner, near, depth + 1);
	}
}

void hodo_kprobe_near_members(const struct btf *btf, const struct btf_type *t, struct hodo_near *near)
{
	near_members(btf, t, near, 0);
}

const char *hodo_kprobe_type_name(const struct btf *btf, uint32_t id, char *text, size_t size)
{
	const struct btf_type *t = hodo_kprobe_type(btf, &id);
	const char *name = t ? name_of(btf, t->name_off) : "";
	const char *kind = !t ? "an unknown type" : btf_is_struct(t) ? "struct" : btf_is_union(t) ? "union" :
			   btf_is_ptr(t) ? "a pointer" : btf_is_array(t) ? "an array" : btf_is_any_enum(t) ? "enum" :
			   btf_is_int(t) ? "" : btf_is_fwd(t) ? "struct" : btf_is_func_proto(t) ? "a function" : "void";

	snprintf(text, size, "%s%s%s", kind, *kind && *name ? " " : "", name);
	return text;
}

/* ------------------------------------------------------------------ values */

bool hodo_kprobe_is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name;

	for (int depth = 0; t && (btf_is_mod(t) || btf_is_type_tag(t)) && depth < DEPTH_MAX; depth++)
		t = btf__type_by_id(btf, t->type);
	name = t && btf_is_int(t) && t->size == 1 ? name_of(btf, t->name_off) : "";
	return strcmp(name, "char") == 0 || strcmp(name, "unsigned char") == 0;
}

bool hodo_kprobe_is_const(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int depth = 0; t && depth < DEPTH_MAX && !btf_is_const(t); depth++) {
		if (!btf_is_mod(t) && !btf_is_type_tag(t))
			return false;
		t = btf__type_by_id(btf, t->type);
	}
	return t && btf_is_const(t);
}

static uint8_t integer(unsigned int bytes, bool is_signed)
{
	switch (bytes) {
	case 1:
		return is_signed ? HODO_TYPE_I8 : HODO_TYPE_U8;
	case 2:
		return is_signed ? HODO_TYPE_I16 : HODO_TYPE_U16;
	case 4:
		return is_signed ? HODO_TYPE_I32 : HODO_TYPE_U32;
	case 8:
		return is_signed ? HODO_TYPE_I64 : HODO_TYPE_U64;
	}
	return 0;
}

/* Compilers before 2022 do not tell whether an enum is signed. */
static bool enum_is_signed(const struct btf_type *t)
{
	if (btf_kflag(t))
		return true;
	for (uint32_t i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
		if (btf_enum(t)[i].val < 0)
			return true;
	return false;
}

uint8_t hodo_kprobe_scalar(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = hodo_kprobe_type(btf, &id);

	if (!t)
		return 0;
	if (btf_is_ptr(t))
		return HODO_TYPE_PTR;
	if (btf_is_any_enum(t))
		return integer(t->size, enum_is_signed(t));
	if (!btf_is_int(t))
		return 0;
	if (btf_int_encoding(t) & BTF_INT_BOOL)
		return t->size == 1 ? HODO_TYPE_BOOL : 0;
	return integer(t->size, btf_int_encoding(t) & BTF_INT_SIGNED);
}

/* --------------------------------------------------------------- functions */

const struct btf_type *hodo_kprobe_prototype(const struct btf *btf, const char *function)
{
	int id = btf ? btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

/*
 * x86-64: words go to six registers, two-word values to two of them if available; larger or later ones are on
 * the stack, after the return address.
 */
bool hodo_kprobe_place(const struct btf *btf, const struct btf_type *prototype, uint32_t parameter,
		       struct hodo_kprobe_value *v)
{
	const struct btf_param *p = btf_params(prototype);
	uint64_t used = 0, stack = 1;

	for (uint32_t i = 0; i <= parameter; i++) {
		int64_t bytes = p[i].type ? btf__resolve_size(btf, p[i].type) : -1; /* 0: "..." */
		uint64_t words = bytes > 0 ? ((uint64_t)bytes + 7) / 8 : 1;
		bool fits = words <= 2 && used + words <= HODO_KPROBE_ARGUMENTS;

		if (bytes < 0)
			return false;
		v->from = fits ? HODO_KPROBE_ARGUMENT : HODO_KPROBE_STACK;
		v->number = (uint8_t)(fits ? used : stack);
		if (fits)
			used += words;
		else
			stack += words;
		if (stack > HODO_KPROBE_STACK_MAX || (i == parameter && words > 1))
			return false;
	}
	return true;
}
