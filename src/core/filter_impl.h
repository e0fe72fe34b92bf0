/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_impl.h - what verification (filter.c), binding (filter_bind.c) and the machine (filter_run.c)
 * share and nobody else needs.
 */
#pragma once

#include "filter.h"

#define HODO_FILTER_USES_FLOAT 1u /* hodo_filter.flags */
#define HODO_FILTER_TYPE_VAR 0xffu /* hodo_filter_field.type: piece is an enum hodo_filter_var */

#define HODO_TEST_ACCEPT 254u
#define HODO_TEST_REJECT 255u
/* arch/x86_64/refuse.S knows these numbers. */
enum hodo_test_kind {
	/* Integers, widened to 64 bits; then the interval. */
	HODO_TEST_I8 = 0,
	HODO_TEST_U8 = 1,
	HODO_TEST_I16 = 2,
	HODO_TEST_U16 = 3,
	HODO_TEST_I32 = 4,
	HODO_TEST_U32 = 5,
	HODO_TEST_64 = 6,
	HODO_TEST_F64 = 7,     /* the interval is of hodo_filter_double_key()s */
	HODO_TEST_SAME = 8,    /* a text equals bytes */
	HODO_TEST_PREFIX = 9,  /* a text begins with bytes */
	HODO_TEST_SUFFIX = 10, /* a text ends with bytes */
	HODO_TEST_GLOB = 11,   /* a text matches bytes */
	HODO_TEST_TEXT = 12,   /* a text is not NULL */
	HODO_TEST_CODE = 13    /* instructions that leave one value */
};

/* What an instruction takes from the stack and leaves on it. */
struct hodo_filter_effect {
	uint8_t operand; /* bytes after the opcode, without a text's own bytes */
	uint8_t pops;
	uint8_t pushes; /* 0: no such instruction */
};
extern const struct hodo_filter_effect hodo_filter_effects[256]; /* filter.c */

/* The 16-bit operand at p, which need not be aligned. */
static inline uint16_t hodo_filter_u16(const uint8_t *p)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

/* Bytes of the operand at p, of a verified instruction. */
static inline size_t hodo_filter_operand(uint8_t op, const uint8_t *p)
{
	size_t bytes = hodo_filter_effects[op].operand;

	if (op == HODO_FILTER_TEXT || op == HODO_FILTER_LABEL_TEXT)
		bytes += hodo_filter_u16(p + bytes - 2);
	return bytes;
}

/* A double's bits as an integer that sorts as doubles do; NaNs lie beyond the infinities, -0 just below 0. */
static inline uint64_t hodo_filter_double_key(uint64_t bits)
{
	return bits >> 63 ? ~bits : bits | 1ull << 63;
}

/* filter_steps.c: once names and labels are bound. */
void hodo_filter_make_steps(struct hodo_filter *f);

/* filter.c: bytes of header and names of a verified program. */
size_t hodo_filter_header_len(const uint8_t *code, size_t len);
