/* SPDX-License-Identifier: MIT */
/* fields.h - fields by their names, and as numbers. */
#pragma once

#include <hodo/read.h>
#include <string.h>

/* The index of the field with that name, or -1. */
static inline int hodo_read_field(const struct hodo_read_class *cls, const char *name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (strcmp(cls->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* 0 for a text, bytes or an array. */
static inline double hodo_value_number(const struct hodo_read_value *v)
{
	switch (v->type) {
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		return v->f;
	case HODO_TYPE_I8:
	case HODO_TYPE_I16:
	case HODO_TYPE_I32:
	case HODO_TYPE_I64:
	case HODO_TYPE_CHAR:
		return (double)v->i;
	case HODO_TYPE_STR:
	case HODO_TYPE_BYTES:
		return 0;
	default:
		return v->type & HODO_TYPE_ARRAY ? 0 : (double)v->u;
	}
}
