/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* fields.h - an event's fields: their names, from the source text of its arguments, and their types. */
#ifndef HODO_CORE_FIELDS_H
#define HODO_CORE_FIELDS_H

#include <hodo/abi.h>

/* Bytes that hold the names of any event: more is cut. */
#define HODO_FIELDS_NAMES_MAX 2048

/*
 * Derives nfields names (at most HODO_FIELDS_MAX) from args, the text between
 * the parentheses of the macro: HODO_F(name, …) gives name, HODO_STR, HODO_BYTES
 * and HODO_ARRAY that of their first argument, anything else its letters,
 * digits and underscores with everything between folded to one underscore
 * ("req->len" is req_len). Empty or missing ones become argN; of two equal
 * names the later gets its number appended.
 *
 * buf (size bytes, HODO_FIELDS_NAMES_MAX is enough for all) receives the
 * NUL-terminated names, names[] their places in it. 0, or -1 if size is too
 * small. args may be any text. Signal safe.
 */
int hodo_fields_names(const char *args, unsigned nfields, char *buf, size_t size, const char **names);

/* "u8", "u8[]", "str" …; "?" for an unknown type. */
const char *hodo_fields_type_name(uint8_t type);
/* Of a number, or of an array's elements: an integer, or char, below 0 too. */
int hodo_fields_is_signed(uint8_t type);
/* Bytes of a type in the fixed part of an event (the length of a variable field), 0 for an unknown type. */
unsigned hodo_fields_fixed_size(uint8_t type);
/* Bytes of an element of a variable field (1 for text and bytes), 0 for a scalar. */
unsigned hodo_fields_element_size(uint8_t type);

#endif
