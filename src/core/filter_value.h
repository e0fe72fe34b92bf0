/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_value.h - the filter machine's values and operators. Part of
 * filter_run.c, which alone includes it, so that the loop can inline them.
 */
#pragma once

#include "filter.h"
#include "glob.h"

enum kind { ABSENT = 0, SIGNED, UNSIGNED, FLOATING, TEXT };

struct value {
	enum kind kind;
	uint32_t len; /* of a text, bytes */
	union {
		int64_t i;
		uint64_t u;
#if HODO_FILTER_FLOAT
		double d;
#endif
		const char *text;
	};
};

/* How two values compare. */
enum order { LESS, EQUAL, GREATER, UNORDERED /* a NaN */, INCOMPARABLE };

/*
 * Results are written member by member to their destination: a returned struct is copied in wider pieces than
 * it was written in, which stalls the processor.
 */
static void set_absent(struct value *v)
{
	v->kind = ABSENT;
}

static void set_int(struct value *v, int64_t i)
{
	v->kind = SIGNED;
	v->i = i;
}

static bool is_int(const struct value *v)
{
	return v->kind == SIGNED || v->kind == UNSIGNED;
}

static bool is_negative(const struct value *v)
{
	return v->kind == SIGNED && v->i < 0;
}

static enum order order_u64(uint64_t a, uint64_t b)
{
	return a < b ? LESS : a > b ? GREATER : EQUAL;
}

/* Compares values, whatever their signedness: unlike in C, -1 is below every unsigned number. */
static enum order order_int(const struct value *a, const struct value *b)
{
	if (is_negative(a) != is_negative(b))
		return is_negative(a) ? LESS : GREATER;
	return order_u64(a->u, b->u); /* two's complement preserves the order of negatives */
}

/* ----------------------------------------------------------- floating point */

#if HODO_FILTER_FLOAT
static double to_double(const struct value *v)
{
	if (v->kind == FLOATING)
		return v->d;
	return v->kind == SIGNED ? (double)v->i : (double)v->u;
}

static enum order order_double(double a, double b)
{
	if (__builtin_isunordered(a, b))
		return UNORDERED;
	return a < b ? LESS : a > b ? GREATER : EQUAL;
}

/* Exact, even if converting the integer to double would round it. */
static enum order order_double_int(double d, const struct value *v)
{
	enum order o;
	double whole;

	if (__builtin_isnan(d))
		return UNORDERED;
	if (is_negative(v)) {
		if (d >= 0 || d < -0x1p63)
			return d >= 0 ? GREATER : LESS;
		o = (int64_t)d < v->i ? LESS : (int64_t)d > v->i ? GREATER : EQUAL;
		whole = (double)(int64_t)d;
	} else {
		if (d < 0 || d >= 0x1p64)
			return d < 0 ? LESS : GREATER;
		o = order_u64((uint64_t)d, v->u);
		whole = (double)(uint64_t)d;
	}
	return o == EQUAL ? order_double(d, whole) : o;
}

static enum order order_numbers(const struct value *a, const struct value *b)
{
	enum order o;

	if (a->kind == FLOATING && b->kind == FLOATING)
		return order_double(a->d, b->d);
	if (a->kind == FLOATING)
		return order_double_int(a->d, b);
	if (b->kind == FLOATING) {
		o = order_double_int(b->d, a);
		return o == LESS ? GREATER : o == GREATER ? LESS : o;
	}
	return order_int(a, b);
}

static void float_binary(uint8_t op, struct value *a, const struct value *b)
{
	double x = to_double(a), y = to_double(b);

	a->kind = FLOATING;
	if (op == HODO_FILTER_MUL)
		a->d = x * y;
	else if (op == HODO_FILTER_ADD)
		a->d = x + y;
	else if (op == HODO_FILTER_SUB)
		a->d = x - y;
	else if (op == HODO_FILTER_DIV && y != 0)
		a->d = x / y;
	else
		set_absent(a); /* the other operators need integers */
}

static void load_float(struct value *v, uint8_t type, const uint8_t *p)
{
	float f;

	v->kind = FLOATING;
	if (type == HODO_TYPE_F64) {
		__builtin_memcpy(&v->d, p, sizeof(v->d));
	} else {
		__builtin_memcpy(&f, p, sizeof(f));
		v->d = f;
	}
}
#else
#define order_numbers(a, b) order_int(a, b)
#define float_binary(op, a, b) set_absent(a)
#define load_float(v, type, p) set_absent(v)
#endif

/* ---------------------------------------------------------------- operators */

/*
 * Three-valued truth, as in SQL: true, false, and unknown for what is absent. The negation of unknown is
 * unknown, so neither shard == 3 nor !(shard == 3) accepts an event without a shard.
 */
enum truth { NO, YES, UNKNOWN };

static enum truth truth_of(const struct value *v)
{
	switch (v->kind) {
	case SIGNED:
	case UNSIGNED:
		return v->u != 0 ? YES : NO;
	case FLOATING: /* as in C: a NaN is true */
		return v->u << 1 ? YES : NO;
	case TEXT:
		return YES; /* a pointer that is not NULL */
	case ABSENT:
		break;
	}
	return UNKNOWN;
}

static void set_truth(struct value *v, enum truth t)
{
	if (t == UNKNOWN)
		set_absent(v);
	else
		set_int(v, t == YES);
}

static enum truth logic(uint8_t op, enum truth a, enum truth b)
{
	enum truth decides = op == HODO_FILTER_LAND ? NO : YES;

	if (a == decides || b == decides)
		return decides;
	return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : a;
}

static enum order order_texts(const struct value *a, const struct value *b)
{
	uint32_t least = a->len < b->len ? a->len : b->len;
	int c = least ? __builtin_memcmp(a->text, b->text, least) : 0;

	if (c)
		return c < 0 ? LESS : GREATER;
	return order_u64(a->len, b->len);
}

static enum order order_of(const struct value *a, const struct value *b)
{
	if (a->kind == ABSENT || b->kind == ABSENT || (a->kind == TEXT) != (b->kind == TEXT))
		return INCOMPARABLE;
	return a->kind == TEXT ? order_texts(a, b) : order_numbers(a, b);
}

static enum truth compare(uint8_t op, const struct value *a, const struct value *b)
{
	static const uint8_t holds[] = { 1 << LESS, 1 << LESS | 1 << EQUAL, 1 << GREATER, 1 << GREATER | 1 << EQUAL,
					 1 << EQUAL, 1 << LESS | 1 << GREATER | 1 << UNORDERED };
	enum order o = order_of(a, b);

	return o == INCOMPARABLE ? UNKNOWN : holds[op - HODO_FILTER_LT] >> o & 1 ? YES : NO;
}

static enum truth match(uint8_t op, const struct value *a, const struct value *b)
{
	if (a->kind != TEXT || b->kind != TEXT)
		return UNKNOWN;
	return hodo_glob(b->text, b->len, a->text, a->len) == (op == HODO_FILTER_MATCH) ? YES : NO;
}

/* Quotient or remainder, as in C, and defined where C leaves them undefined. */
static void divide(uint8_t op, struct value *a, const struct value *b)
{
	if (b->u == 0)
		set_absent(a);
	else if (a->kind == UNSIGNED)
		a->u = op == HODO_FILTER_DIV ? a->u / b->u : a->u % b->u;
	else if (b->i == -1) /* INT64_MIN / -1 traps */
		a->u = op == HODO_FILTER_DIV ? -a->u : 0;
	else
		a->i = op == HODO_FILTER_DIV ? a->i / b->i : a->i % b->i;
}

/* Keeps the left operand's signedness, as C does. */
static void shift(uint8_t op, struct value *a, const struct value *b)
{
	if (b->u > 63) /* a negative count, too */
		set_absent(a);
	else if (op == HODO_FILTER_SHL)
		a->u <<= b->u;
	else if (a->kind == UNSIGNED)
		a->u >>= b->u;
	else
		a->i >>= b->u;
}

/* Two integers. 64 bits, wrapping; unsigned if either is, as in C. */
static void int_binary(uint8_t op, struct value *a, const struct value *b)
{
	if (op == HODO_FILTER_SHL || op == HODO_FILTER_SHR) {
		shift(op, a, b);
		return;
	}
	if (b->kind == UNSIGNED)
		a->kind = UNSIGNED;
	switch (op) {
	case HODO_FILTER_MUL:
		a->u *= b->u;
		break;
	case HODO_FILTER_ADD:
		a->u += b->u;
		break;
	case HODO_FILTER_SUB:
		a->u -= b->u;
		break;
	case HODO_FILTER_AND:
		a->u &= b->u;
		break;
	case HODO_FILTER_XOR:
		a->u ^= b->u;
		break;
	case HODO_FILTER_OR:
		a->u |= b->u;
		break;
	default:
		divide(op, a, b);
	}
}

static void arithmetic(uint8_t op, struct value *a, const struct value *b)
{
	if (a->kind == ABSENT || b->kind == ABSENT || a->kind == TEXT || b->kind == TEXT)
		set_absent(a);
	else if (is_int(a) && is_int(b))
		int_binary(op, a, b);
	else
		float_binary(op, a, b);
}

/* a becomes the result. */
static void binary(uint8_t op, struct value *a, const struct value *b)
{
	if (op == HODO_FILTER_LAND || op == HODO_FILTER_LOR)
		set_truth(a, logic(op, truth_of(a), truth_of(b)));
	else if (op >= HODO_FILTER_LT && op <= HODO_FILTER_NE)
		set_truth(a, compare(op, a, b));
	else if (op == HODO_FILTER_MATCH || op == HODO_FILTER_UNLIKE)
		set_truth(a, match(op, a, b));
	else
		arithmetic(op, a, b);
}

static void unary(uint8_t op, struct value *a)
{
	static const enum truth negated[] = { [NO] = YES, [YES] = NO, [UNKNOWN] = UNKNOWN };

	if (op == HODO_FILTER_NOT)
		set_truth(a, negated[truth_of(a)]);
	else if (is_int(a))
		a->u = op == HODO_FILTER_NEG ? -a->u : ~a->u;
	else if (op == HODO_FILTER_NEG && a->kind == FLOATING)
		a->u ^= 1ull << 63;
	else
		set_absent(a);
}
