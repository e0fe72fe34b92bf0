/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_value.h - the filter machine's values and operators. Part of
 * filter_run.c, which alone includes it, so that the loop can inline them.
 */
#ifndef HODO_CORE_FILTER_VALUE_H
#define HODO_CORE_FILTER_VALUE_H

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

/* How two values stand to each other. */
enum order { LESS, EQUAL, GREATER, UNORDERED /* a NaN */, INCOMPARABLE };

static const struct value absent = { .kind = ABSENT };

static struct value from_int(int64_t i)
{
	return (struct value){ .kind = SIGNED, .i = i };
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

/* As the numbers are, whatever their signedness: unlike C, -1 is below every unsigned. */
static enum order order_int(const struct value *a, const struct value *b)
{
	if (is_negative(a) != is_negative(b))
		return is_negative(a) ? LESS : GREATER;
	return order_u64(a->u, b->u); /* two's complement keeps the order among negatives */
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

/* Exact, where converting the integer to double would round it. */
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

/* Whether d is true, as in C: a NaN is. */
static bool double_truth(const struct value *v)
{
	return v->d != 0;
}

static struct value negate_double(const struct value *v)
{
	return (struct value){ .kind = FLOATING, .d = -v->d };
}

static struct value float_binary(uint8_t op, const struct value *a, const struct value *b)
{
	double x = to_double(a), y = to_double(b);

	switch (op) {
	case HODO_FILTER_MUL:
		return (struct value){ .kind = FLOATING, .d = x * y };
	case HODO_FILTER_DIV:
		if (y == 0)
			return absent;
		return (struct value){ .kind = FLOATING, .d = x / y };
	case HODO_FILTER_ADD:
		return (struct value){ .kind = FLOATING, .d = x + y };
	case HODO_FILTER_SUB:
		return (struct value){ .kind = FLOATING, .d = x - y };
	}
	return absent; /* the others want integers */
}

static struct value load_float(uint8_t type, const uint8_t *p)
{
	struct value v = { .kind = FLOATING };
	float f;

	if (type == HODO_TYPE_F64) {
		__builtin_memcpy(&v.d, p, sizeof(v.d));
	} else {
		__builtin_memcpy(&f, p, sizeof(f));
		v.d = f;
	}
	return v;
}
#else
static enum order order_numbers(const struct value *a, const struct value *b)
{
	return order_int(a, b);
}

static bool double_truth(const struct value *v)
{
	return false;
}

static struct value negate_double(const struct value *v)
{
	return absent;
}

static struct value float_binary(uint8_t op, const struct value *a, const struct value *b)
{
	return absent;
}

static struct value load_float(uint8_t type, const uint8_t *p)
{
	return absent;
}
#endif

/* ---------------------------------------------------------------- operators */

/*
 * Three-valued truth, as in SQL: true, false, and absent for what is not known.
 * Negating what is not known gives nothing known, so neither shard == 3 nor
 * !(shard == 3) takes an event without a shard.
 */
enum truth { NO, YES, UNKNOWN };

static enum truth truth_of(const struct value *v)
{
	switch (v->kind) {
	case SIGNED:
	case UNSIGNED:
		return v->u != 0 ? YES : NO;
	case FLOATING:
		return double_truth(v) ? YES : NO;
	case TEXT:
		return YES; /* a pointer that is not NULL */
	case ABSENT:
		break;
	}
	return UNKNOWN;
}

static struct value from_truth(enum truth t)
{
	return t == UNKNOWN ? absent : from_int(t == YES);
}

static struct value logic(uint8_t op, enum truth a, enum truth b)
{
	enum truth decides = op == HODO_FILTER_LAND ? NO : YES;

	if (a == decides || b == decides)
		return from_truth(decides);
	return a == UNKNOWN || b == UNKNOWN ? absent : from_truth(a);
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

static struct value compare(uint8_t op, const struct value *a, const struct value *b)
{
	enum order o = order_of(a, b);

	if (o == INCOMPARABLE)
		return absent;
	switch (op) {
	case HODO_FILTER_LT:
		return from_int(o == LESS);
	case HODO_FILTER_LE:
		return from_int(o == LESS || o == EQUAL);
	case HODO_FILTER_GT:
		return from_int(o == GREATER);
	case HODO_FILTER_GE:
		return from_int(o == GREATER || o == EQUAL);
	case HODO_FILTER_EQ:
		return from_int(o == EQUAL);
	}
	return from_int(o != EQUAL);
}

static struct value match(uint8_t op, const struct value *a, const struct value *b)
{
	if (a->kind != TEXT || b->kind != TEXT)
		return absent;
	return from_int(hodo_glob(b->text, b->len, a->text, a->len) == (op == HODO_FILTER_MATCH));
}

/* Quotient or rest; both as C has them, and defined where C leaves them open. */
static struct value divide(uint8_t op, enum kind kind, const struct value *a, const struct value *b)
{
	struct value v = { .kind = kind };

	if (b->u == 0)
		return absent;
	if (kind == UNSIGNED)
		v.u = op == HODO_FILTER_DIV ? a->u / b->u : a->u % b->u;
	else if (b->i == -1) /* INT64_MIN / -1 traps */
		v.u = op == HODO_FILTER_DIV ? -a->u : 0;
	else
		v.i = op == HODO_FILTER_DIV ? a->i / b->i : a->i % b->i;
	return v;
}

static struct value shift(uint8_t op, const struct value *a, const struct value *b)
{
	struct value v = { .kind = a->kind };

	if (b->u > 63) /* a negative count, too */
		return absent;
	if (op == HODO_FILTER_SHL)
		v.u = a->u << b->u;
	else if (a->kind == UNSIGNED)
		v.u = a->u >> b->u;
	else
		v.i = a->i >> b->u;
	return v;
}

/* Two integers. 64 bits, wrapping; unsigned if either is, as in C. */
static struct value int_binary(uint8_t op, const struct value *a, const struct value *b)
{
	struct value v = { .kind = a->kind == UNSIGNED ? UNSIGNED : b->kind };

	switch (op) {
	case HODO_FILTER_MUL:
		v.u = a->u * b->u;
		return v;
	case HODO_FILTER_ADD:
		v.u = a->u + b->u;
		return v;
	case HODO_FILTER_SUB:
		v.u = a->u - b->u;
		return v;
	case HODO_FILTER_AND:
		v.u = a->u & b->u;
		return v;
	case HODO_FILTER_XOR:
		v.u = a->u ^ b->u;
		return v;
	case HODO_FILTER_OR:
		v.u = a->u | b->u;
		return v;
	case HODO_FILTER_DIV:
	case HODO_FILTER_MOD:
		return divide(op, v.kind, a, b);
	}
	return shift(op, a, b);
}

static struct value binary(uint8_t op, const struct value *a, const struct value *b)
{
	if (op == HODO_FILTER_LAND || op == HODO_FILTER_LOR)
		return logic(op, truth_of(a), truth_of(b));
	if (op >= HODO_FILTER_LT && op <= HODO_FILTER_NE)
		return compare(op, a, b);
	if (op == HODO_FILTER_MATCH || op == HODO_FILTER_UNLIKE)
		return match(op, a, b);
	if (a->kind == ABSENT || b->kind == ABSENT || a->kind == TEXT || b->kind == TEXT)
		return absent;
	return is_int(a) && is_int(b) ? int_binary(op, a, b) : float_binary(op, a, b);
}

static struct value unary(uint8_t op, const struct value *a)
{
	struct value v = *a;
	enum truth t;

	if (op == HODO_FILTER_NOT) {
		t = truth_of(a);
		return t == UNKNOWN ? absent : from_int(t == NO);
	}
	if (!is_int(a))
		return op == HODO_FILTER_NEG && a->kind == FLOATING ? negate_double(a) : absent;
	v.u = op == HODO_FILTER_NEG ? -a->u : ~a->u;
	return v;
}

#endif
