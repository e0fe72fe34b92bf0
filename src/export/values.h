/* SPDX-License-Identifier: MIT */
/* values.h - fields as numbers. */
#ifndef HODO_EXPORT_VALUES_H
#define HODO_EXPORT_VALUES_H

#include <hodo/read.h>

/* Of a text, bytes or an array 0. */
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

#endif
