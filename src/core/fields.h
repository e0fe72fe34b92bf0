/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* fields.h - an event's fields: their names, from the source text of its arguments, and their types. */
#pragma once

#include <hodo/abi.h>

#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* Bytes for the names of any event's fields; longer ones are cut. */
#define HODO_FIELDS_NAMES_MAX 2048

/*
 * Derives nfields names (at most HODO_FIELDS_MAX) from args, the text between the parentheses of the macro:
 * HODO_F(name, …) gives name, HODO_STR, HODO_BYTES and HODO_ARRAY that of their first argument, and anything
 * else its letters, digits and underscores, with whatever lies between folded to one underscore ("req->len"
 * gives req_len). Empty or missing names become argN; the later of two equal names gets its number appended.
 *
 * buf (size bytes, HODO_FIELDS_NAMES_MAX is enough for all) receives the NUL-terminated names, names[] their places in
 * it. 0, or -1 if size is too small. args may be any text. Signal safe.
 */
int hodo_fields_names(const char *args, unsigned nfields, char *buf, size_t size, const char **names);

/* "u8", "u8[]", "str" …; "?" for an unknown type. */
const char *hodo_fields_type_name(uint8_t type);
/* Whether numbers of the type, or an array's elements, are integers (or char) that may be negative. */
int hodo_fields_is_signed(uint8_t type);
/* Bytes of a type in the fixed part of an event (the length of a variable field), 0 for an unknown type. */
unsigned hodo_fields_fixed_size(uint8_t type);
/* Bytes of an element of a variable field (1 for text and bytes), 0 for a scalar. */
unsigned hodo_fields_element_size(uint8_t type);

static inline bool hodo_fields_is_integer(uint8_t type)
{
	return type != HODO_TYPE_NONE && type <= HODO_TYPE_PTR && type != HODO_TYPE_F32 && type != HODO_TYPE_F64;
}
/* Whether its values may be above INT64_MAX. */
static inline bool hodo_fields_is_unsigned64(uint8_t type) { return type == HODO_TYPE_U64 || type == HODO_TYPE_PTR; }

/* The integer of that type at p, which need not be aligned, widened to 64 bits as C would. */
static inline int64_t hodo_fields_integer(uint8_t type, const void *p)
{
	int64_t whole;
	int32_t word;
	int16_t half;

	switch (type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		return *(const int8_t *)p;
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
		return *(const uint8_t *)p;
	case HODO_TYPE_I16:
	case HODO_TYPE_U16:
		__builtin_memcpy(&half, p, sizeof(half));
		return type == HODO_TYPE_I16 ? half : (uint16_t)half;
	case HODO_TYPE_I32:
	case HODO_TYPE_U32:
		__builtin_memcpy(&word, p, sizeof(word));
		return type == HODO_TYPE_I32 ? word : (int64_t)(uint32_t)word;
	}
	__builtin_memcpy(&whole, p, sizeof(whole));
	return whole;
}
