/* SPDX-License-Identifier: MIT */
/*
 * filter_reference_eval.c - the value of an expression tree, by the rules of
 * docs/design/filter.md: integers as 128-bit numbers, comparisons with
 * doubles in long double, globs by recursion.
 */
#include "filter_reference.h"

#include <string.h>

#if HODO_FILTER_FLOAT
#include <float.h>

_Static_assert(LDBL_MANT_DIG >= 64, "long double holds every 64-bit integer and every double");
#endif

struct value {
	enum { NOTHING, WHOLE, REAL, STRING } kind;
	__int128 i; /* the number's mathematical value */
	bool is_unsigned;
#if HODO_FILTER_FLOAT
	double d;
#endif
	const char *text;
	size_t len;
};

static const struct value nothing = { .kind = NOTHING };

static struct value whole(__int128 i, bool is_unsigned)
{
	struct value v = { .kind = WHOLE, .is_unsigned = is_unsigned };

	v.i = is_unsigned ? (__int128)(uint64_t)i : (__int128)(int64_t)(uint64_t)i;
	return v;
}

#if HODO_FILTER_FLOAT
static struct value real(double d)
{
	return (struct value){ .kind = REAL, .d = d };
}
#endif

static struct value string(const char *text, size_t len)
{
	return (struct value){ .kind = STRING, .text = text, .len = len };
}

/* -------------------------------------------------------------------- globs */

/* The position after the ']' of the set that begins at p[0] == '[', or 0. */
static size_t set_len(const char *p, size_t m)
{
	size_t i = 1;

	if (i < m && (p[i] == '!' || p[i] == '^'))
		i++;
	for (i++; i < m; i++)
		if (p[i] == ']')
			return i + 1;
	return 0;
}

static bool in_set(const char *p, size_t len, char c)
{
	bool member[256] = { false };
	size_t i = 1, end = len - 1;
	bool negate = p[1] == '!' || p[1] == '^';
	unsigned int b;

	for (i += negate; i < end; i++) {
		if (end - i > 2 && p[i + 1] == '-') {
			for (b = (unsigned char)p[i]; b <= (unsigned char)p[i + 2]; b++)
				member[b] = true;
			i += 2;
		} else {
			member[(unsigned char)p[i]] = true;
		}
	}
	return member[(unsigned char)c] != negate;
}

bool reference_glob(const char *p, size_t m, const char *t, size_t n)
{
	size_t set;

	if (m == 0)
		return n == 0;
	if (*p == '*')
		return reference_glob(p + 1, m - 1, t, n) || (n && reference_glob(p, m, t + 1, n - 1));
	if (n == 0)
		return false;
	if (*p == '?')
		return reference_glob(p + 1, m - 1, t + 1, n - 1);
	set = *p == '[' ? set_len(p, m) : 0;
	if (set)
		return in_set(p, set, *t) && reference_glob(p + set, m - set, t + 1, n - 1);
	if (*p == '\\' && m > 1) {
		p++;
		m--;
	}
	return *p == *t && reference_glob(p + 1, m - 1, t + 1, n - 1);
}

/* ------------------------------------------------------------------- fields */

static struct value field(const struct test_event *e, const char *name)
{
	const struct test_field *f = NULL;
	unsigned int i;

	for (i = 0; i < e->n && !f; i++)
		if (strcmp(e->fields[i].name, name) == 0)
			f = &e->fields[i];
	if (!f)
		return nothing;
	switch (f->type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		return whole((int8_t)f->i, false);
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
		return whole((uint8_t)f->i, false);
	case HODO_TYPE_I16:
		return whole((int16_t)f->i, false);
	case HODO_TYPE_U16:
		return whole((uint16_t)f->i, false);
	case HODO_TYPE_I32:
		return whole((int32_t)f->i, false);
	case HODO_TYPE_U32:
		return whole((uint32_t)f->i, false);
	case HODO_TYPE_I64:
		return whole(f->i, false);
	case HODO_TYPE_U64:
	case HODO_TYPE_PTR:
		return whole((uint64_t)f->i, true);
#if HODO_FILTER_FLOAT
	case HODO_TYPE_F32:
		return real((float)f->d);
	case HODO_TYPE_F64:
		return real(f->d);
#endif
	case HODO_TYPE_STR:
		return f->null ? nothing : string(f->text, f->len);
	}
	return nothing;
}

static bool is_there(const struct test_event *e, const char *name)
{
	unsigned int i;

	for (i = 0; i < e->n; i++)
		if (strcmp(e->fields[i].name, name) == 0)
			return !e->fields[i].null && (HODO_FILTER_FLOAT || (e->types[i] != HODO_TYPE_F32 &&
									   e->types[i] != HODO_TYPE_F64));
	return false;
}

/* ---------------------------------------------------------------- operators */

/* 1, 0, or -1 for unknown. */
static int truth(struct value v)
{
	switch (v.kind) {
	case WHOLE:
		return v.i != 0;
#if HODO_FILTER_FLOAT
	case REAL:
		return !(v.d == 0);
#endif
	case STRING:
		return 1;
	default:
		return -1;
	}
}

static struct value from_truth(int t)
{
	return t < 0 ? nothing : whole(t, false);
}

#if HODO_FILTER_FLOAT
static long double wide(struct value v)
{
	return v.kind == REAL ? (long double)v.d : (long double)v.i;
}

static bool is_nan(struct value v)
{
	return __builtin_isnan(wide(v));
}
#else
static __int128 wide(struct value v)
{
	return v.i;
}

static bool is_nan(struct value v)
{
	return false;
}
#endif

static struct value compare(const char *op, struct value a, struct value b)
{
	bool less, equal;

	if (!a.kind || !b.kind || (a.kind == STRING) != (b.kind == STRING))
		return nothing;
	if (a.kind == STRING) {
		size_t i = 0;

		while (i < a.len && i < b.len && a.text[i] == b.text[i])
			i++;
		equal = i == a.len && i == b.len;
		less = i < b.len && (i == a.len || (unsigned char)a.text[i] < (unsigned char)b.text[i]);
	} else {
		equal = wide(a) == wide(b);
		less = wide(a) < wide(b);
		if (is_nan(a) || is_nan(b))
			return whole(strcmp(op, "!=") == 0, false);
	}
	switch (op[0]) {
	case '=':
		return whole(equal, false);
	case '!':
		return whole(!equal, false);
	case '<':
		return whole(less || (op[1] && equal), false);
	}
	return whole(!less && (op[1] || !equal), false);
}

static struct value glob(const char *op, struct value a, struct value b)
{
	if (a.kind != STRING || b.kind != STRING)
		return nothing;
	return whole(reference_glob(b.text, b.len, a.text, a.len) == (op[0] == '='), false);
}

/* a / b as in C, without the library's 128-bit division, which the kernel lacks; both fit 64 bits and a sign. */
static __int128 quotient(__int128 a, __int128 b)
{
	uint64_t x = (uint64_t)(a < 0 ? -a : a), y = (uint64_t)(b < 0 ? -b : b);

	return (a < 0) != (b < 0) ? -(__int128)(x / y) : (__int128)(x / y);
}

static struct value shift(const char *op, struct value a, struct value b)
{
	__int128 power, rest;

	if (b.i < 0 || b.i > 63)
		return nothing;
	power = (__int128)1 << (int)b.i;
	if (op[0] == '<')
		return whole((__int128)((unsigned __int128)a.i * (unsigned __int128)power), a.is_unsigned);
	rest = a.i - quotient(a.i, power) * power;
	if (rest < 0) /* rounds down, also below zero */
		rest += power;
	return whole(quotient(a.i - rest, power), a.is_unsigned);
}

static struct value integers(const char *op, struct value a, struct value b)
{
	bool u = a.is_unsigned || b.is_unsigned;
	unsigned __int128 x, y;

	if (op[0] == '<' || op[0] == '>')
		return shift(op, a, b);
	a = whole(a.i, u); /* converted as in C */
	b = whole(b.i, u);
	x = (unsigned __int128)a.i;
	y = (unsigned __int128)b.i;
	switch (op[0]) {
	case '|':
		return whole((__int128)(x | y), u);
	case '^':
		return whole((__int128)(x ^ y), u);
	case '&':
		return whole((__int128)(x & y), u);
	case '+':
		return whole((__int128)(x + y), u);
	case '-':
		return whole((__int128)(x - y), u);
	case '*':
		return whole((__int128)(x * y), u);
	}
	if (b.i == 0)
		return nothing;
	return whole(op[0] == '/' ? quotient(a.i, b.i) : a.i - quotient(a.i, b.i) * b.i, u);
}

#if HODO_FILTER_FLOAT
static struct value reals(const struct op *op, struct value a, struct value b)
{
	double x = a.kind == REAL ? a.d : a.is_unsigned ? (double)(uint64_t)a.i : (double)(int64_t)a.i;
	double y = b.kind == REAL ? b.d : b.is_unsigned ? (double)(uint64_t)b.i : (double)(int64_t)b.i;

	switch (op->text[0]) {
	case '+':
		return real(x + y);
	case '-':
		return real(x - y);
	case '*':
		return real(x * y);
	}
	return y == 0 ? nothing : real(x / y);
}
#endif

static struct value arithmetic(const struct op *op, struct value a, struct value b)
{
	if (!a.kind || !b.kind || a.kind == STRING || b.kind == STRING)
		return nothing;
	if (a.kind == WHOLE && b.kind == WHOLE)
		return integers(op->text, a, b);
#if HODO_FILTER_FLOAT
	if (op->class != BITS)
		return reals(op, a, b);
#endif
	return nothing;
}

static struct value unary(char sign, struct value a)
{
	if (sign == '!')
		return truth(a) < 0 ? nothing : whole(!truth(a), false);
	if (a.kind == WHOLE)
		return sign == '-' ? whole(0 - a.i, a.is_unsigned) : whole(-1 - a.i, a.is_unsigned);
#if HODO_FILTER_FLOAT
	if (a.kind == REAL && sign == '-')
		return real(-a.d);
#endif
	return nothing;
}

static struct value eval(const struct node *n, const struct test_event *e);

static struct value binary(const struct node *n, const struct test_event *e)
{
	struct value a = eval(n->kid[0], e), b = eval(n->kid[1], e);
	int ta = truth(a), tb = truth(b);

	switch (n->op->class) {
	case LOGIC:
		if (n->op->text[0] == '&')
			return from_truth(ta == 0 || tb == 0 ? 0 : ta < 0 || tb < 0 ? -1 : 1);
		return from_truth(ta == 1 || tb == 1 ? 1 : ta < 0 || tb < 0 ? -1 : 0);
	case COMPARE:
		return compare(n->op->text, a, b);
	case GLOB:
		return glob(n->op->text, a, b);
	default:
		return arithmetic(n->op, a, b);
	}
}

static struct value eval(const struct node *n, const struct test_event *e)
{
	int t;

	switch (n->kind) {
	case N_INT:
		return whole((__int128)n->i, n->is_unsigned);
	case N_FLOAT:
#if HODO_FILTER_FLOAT
		return real(n->d);
#else
		break;
#endif
	case N_TEXT:
		return string(n->text, n->len);
	case N_FIELD:
		return field(e, n->name);
	case N_HAS:
		return whole(is_there(e, n->name), false);
	case N_UNARY:
		return unary(n->sign, eval(n->kid[0], e));
	case N_BINARY:
		return binary(n, e);
	case N_SELECT:
		t = truth(eval(n->kid[0], e));
		return t < 0 ? nothing : eval(n->kid[t ? 1 : 2], e);
	}
	return nothing;
}

bool node_takes(const struct node *n, const struct test_event *e)
{
	return truth(eval(n, e)) == 1;
}
