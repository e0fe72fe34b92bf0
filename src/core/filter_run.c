/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_run.c - the filter machine at work: steps, fields, constants, and the loop.
 *
 * Runs in the traced process inside the event, in signal handlers too: no
 * locks, no allocation, about 1 KiB of stack, and that only if instructions run. Operands and stack were
 * checked by hodo_filter_verify(); the event's pieces are checked here.
 */
#include "fields.h"
#include "filter.h"
#include "filter_impl.h"
#include "filter_value.h"

/* What a filter reads. */
struct event {
	const struct hodo_piece *pieces;
	size_t count;
	struct hodo_filter_vars *vars;
};

/* ------------------------------------------------------------------- fields */

static void load_int(struct value *v, uint8_t type, const uint8_t *p)
{
	v->kind = hodo_fields_is_unsigned64(type) ? UNSIGNED : SIGNED;
	v->i = hodo_fields_integer(type, p);
}

/* Up to the first NUL: an array of constant length may hold other bytes after its text. */
static uint32_t text_len(const char *text, uint32_t size)
{
	const uint64_t ones = 0x0101010101010101u;
	uint32_t n = 0;
	uint64_t word;

	for (; size - n >= sizeof(word); n += (uint32_t)sizeof(word)) {
		__builtin_memcpy(&word, text + n, sizeof(word));
		if ((word - ones) & ~word & ones << 7) /* one of its bytes is 0 */
			break;
	}
	while (n < size && text[n])
		n++;
	return n;
}

static void load_text(struct value *v, const struct hodo_piece *piece)
{
	v->kind = TEXT;
	v->text = piece->data;
	v->len = piece->len < HODO_STR_MAX ? (uint32_t)piece->len : HODO_STR_MAX;
	if (v->len == HODO_NULL_TEXT_LEN && __builtin_memcmp(v->text, HODO_NULL_TEXT, HODO_NULL_TEXT_LEN) == 0)
		set_absent(v);
	else
		v->len = text_len(v->text, v->len);
}

static void load_var(struct value *v, enum hodo_filter_var var, struct hodo_filter_vars *vars)
{
	set_absent(v);
	if (!vars || !vars->get(vars, var, &v->i))
		return;
	v->kind = SIGNED;
	if (var == HODO_FILTER_COMM) {
		v->kind = TEXT;
		v->len = (uint32_t)v->i;
		v->text = vars->comm;
	}
}

static void load(struct value *v, const struct hodo_filter_field *field, const struct event *e)
{
	const struct hodo_piece *piece = e->pieces + field->piece;
	const uint8_t *p;

	if (field->type == HODO_FILTER_TYPE_VAR) {
		load_var(v, (enum hodo_filter_var)field->piece, e->vars);
		return;
	}
	set_absent(v);
	if (field->type == HODO_TYPE_NONE || field->piece >= e->count)
		return;
	if (field->type == HODO_TYPE_STR)
		load_text(v, piece);
	if (field->type >= HODO_TYPE_STR || piece->len <= field->last) /* bytes and arrays have no value */
		return;
	p = (const uint8_t *)piece->data + field->offset;
	if (field->type == HODO_TYPE_F32 || field->type == HODO_TYPE_F64)
		load_float(v, field->type, p);
	else
		load_int(v, field->type, p);
}

static bool is_long(const struct hodo_filter_field *field)
{
	return field->type >= HODO_TYPE_STR && field->type != HODO_FILTER_TYPE_VAR;
}

/* Bytes and arrays exist although they have no value to compute with. */
static void has(struct value *v, const struct hodo_filter_field *field, const struct event *e)
{
	load(v, field, e);
	set_int(v, v->kind != ABSENT || (is_long(field) && field->type != HODO_TYPE_STR && field->piece < e->count));
}

/* Whether the field has elements here; where they are, and how many. */
static bool elements(const struct hodo_filter_field *field, const struct event *e, const uint8_t **data, uint64_t *n)
{
	struct value v;

	if (!is_long(field) || field->piece >= e->count)
		return false;
	*data = e->pieces[field->piece].data;
	*n = e->pieces[field->piece].len;
	if (field->type == HODO_TYPE_STR) {
		load_text(&v, e->pieces + field->piece);
		*n = v.len;
		return v.kind == TEXT;
	}
	*n /= hodo_fields_element_size(field->type);
	return true;
}

static void element(struct value *v, const struct hodo_filter_field *field, const struct event *e)
{
	const uint8_t *data;
	uint64_t n, at = v->u;
	bool known = is_int(v) && !is_negative(v);
	uint8_t type;

	set_absent(v);
	if (!known || !elements(field, e, &data, &n) || at >= n)
		return;
	type = field->type & HODO_TYPE_ARRAY ? (uint8_t)(field->type & ~HODO_TYPE_ARRAY) :
	       field->type == HODO_TYPE_STR ? HODO_TYPE_CHAR : HODO_TYPE_U8;
	data += at * hodo_fields_element_size(field->type);
	if (type == HODO_TYPE_F32 || type == HODO_TYPE_F64)
		load_float(v, type, data);
	else
		load_int(v, type, data);
}

static void length(struct value *v, const struct hodo_filter_field *field, const struct event *e)
{
	const uint8_t *data;
	uint64_t n;

	set_absent(v);
	if (elements(field, e, &data, &n))
		set_int(v, (int64_t)n);
}

/* ------------------------------------------------------------------ machine */

static void constant(struct value *v, uint8_t op, const uint8_t *p)
{
	v->kind = op == HODO_FILTER_U64 ? UNSIGNED : SIGNED;
	switch (op) {
	case HODO_FILTER_I8:
		v->i = (int8_t)*p;
		break;
	case HODO_FILTER_F64:
		load_float(v, HODO_TYPE_F64, p);
		break;
	case HODO_FILTER_TEXT:
		v->kind = TEXT;
		v->len = hodo_filter_u16(p);
		v->text = (const char *)p + 2;
		break;
	default:
		__builtin_memcpy(&v->u, p, sizeof(v->u));
	}
}

/* A label, or what replaces it if the event has none. */
static void label(struct value *v, const struct hodo_filter *f, const uint8_t *p, const struct event *e)
{
	uint8_t op = p[-1];

	if (op == HODO_FILTER_LABEL && f->fields[p[2]].type != HODO_TYPE_NONE) {
		load(v, &f->fields[p[2]], e);
	} else if (f->label_set & (1u << p[0])) {
		v->kind = f->fields[p[1]].type == HODO_TYPE_U64 ? UNSIGNED : SIGNED;
		v->i = f->label[p[0]];
	} else if (op == HODO_FILTER_LABEL_TEXT) {
		constant(v, HODO_FILTER_TEXT, p + 2);
	} else {
		set_absent(v);
	}
}

static void choose(struct value *top)
{
	enum truth t = truth_of(top);

	if (t == UNKNOWN)
		set_absent(top);
	else
		*top = t == YES ? top[1] : top[2];
}

/* Runs instructions that leave one value; its truth. */
static __attribute__((__noinline__)) enum truth run(const struct hodo_filter *f, const uint8_t *p, size_t len,
						const struct event *e)
{
	struct value stack[HODO_FILTER_STACK_MAX + 1], *top = stack; /* stack[0] is never used */
	const uint8_t *end = p + len;

	while (p < end) {
		uint8_t op = *p++;
		const uint8_t *next = p + hodo_filter_operand(op, p);

		switch (op) {
		case HODO_FILTER_FIELD:
			load(++top, &f->fields[*p], e);
			break;
		case HODO_FILTER_HAS:
			has(++top, &f->fields[*p], e);
			break;
		case HODO_FILTER_LEN:
			length(++top, &f->fields[*p], e);
			break;
		case HODO_FILTER_ELEMENT:
			element(top, &f->fields[*p], e);
			break;
		case HODO_FILTER_LABEL:
		case HODO_FILTER_LABEL_TEXT:
			label(++top, f, p, e);
			break;
		case HODO_FILTER_I8 ... HODO_FILTER_TEXT:
			constant(++top, op, p);
			break;
		case HODO_FILTER_NOT ... HODO_FILTER_NEG:
			unary(op, top);
			break;
		case HODO_FILTER_LAND_SKIP:
		case HODO_FILTER_LOR_SKIP:
			if (truth_of(top) == (op == HODO_FILTER_LAND_SKIP ? NO : YES)) {
				set_int(top, op == HODO_FILTER_LOR_SKIP);
				next += hodo_filter_u16(p);
			}
			break;
		case HODO_FILTER_SELECT:
			top -= 2;
			choose(top);
			break;
		default:
			top--;
			binary(op, top, top + 1);
		}
		p = next;
	}
	return truth_of(top);
}

static enum truth run_code(const struct hodo_filter *f, const struct hodo_filter_test *t, const struct event *e)
{
#if HODO_FILTER_FLOAT && defined(__x86_64__)
	/*
	 * The program may have unmasked floating-point exceptions, or look at their flags: compute in the
	 * default state and restore the program's. The memory clobbers keep the computation, which reads
	 * memory, in between.
	 */
	if (f->flags & HODO_FILTER_USES_FLOAT) {
		unsigned int own, plain = 0x1f80;
		enum truth said;

		__asm__ volatile("stmxcsr %0" : "=m"(own) : : "memory");
		__asm__ volatile("ldmxcsr %0" : : "m"(plain) : "memory");
		said = run(f, t->bytes, t->len, e);
		__asm__ volatile("" : "+r"(said) : : "memory");
		__asm__ volatile("ldmxcsr %0" : : "m"(own) : "memory");
		return said;
	}
#endif
	return run(f, t->bytes, t->len, e);
}

/* -------------------------------------------------------------------- steps */

static enum truth test_text(const struct hodo_filter_test *t, const struct hodo_piece *pieces, size_t count)
{
	struct value v;
	const char *text;

	if (t->field.piece >= count)
		return UNKNOWN;
	load_text(&v, pieces + t->field.piece);
	if (v.kind == ABSENT)
		return UNKNOWN;
	if (t->kind == HODO_TEST_TEXT)
		return YES;
	if (t->kind == HODO_TEST_GLOB)
		return hodo_glob((const char *)t->bytes, t->len, v.text, v.len) ? YES : NO;
	if (v.len < t->len || (t->kind == HODO_TEST_SAME && v.len != t->len))
		return NO;
	text = t->kind == HODO_TEST_SUFFIX ? v.text + v.len - t->len : v.text;
	return __builtin_memcmp(text, t->bytes, t->len) == 0 ? YES : NO;
}

/* The integer, sign-extended to 64 bits, or a double's key. */
static inline uint64_t widened(const struct hodo_filter_test *t, const uint8_t *run)
{
	const uint8_t *p = run + t->field.offset;
	uint64_t whole;

	if (t->kind < HODO_TEST_64)
		return (uint64_t)hodo_fields_integer(t->field.type, p);
	__builtin_memcpy(&whole, p, sizeof(whole));
	return t->kind == HODO_TEST_F64 ? hodo_filter_double_key(whole) : whole;
}

/* Steps other than comparisons of numbers. */
static __attribute__((__noinline__)) enum truth test_other(const struct hodo_filter *f,
							   const struct hodo_filter_test *t,
							   const struct hodo_piece *pieces, size_t count,
							   struct hodo_filter_vars *vars)
{
	struct event e = { pieces, count, vars };

	return t->kind == HODO_TEST_CODE ? run_code(f, t, &e) : test_text(t, pieces, count);
}

#if defined(HODO_BUILDING_LIBHODO) && defined(__x86_64__)
#define hodo_filter_run hodo_filter_run_floats
#endif
bool hodo_filter_run(const struct hodo_filter *f, const struct hodo_piece *pieces, size_t count,
		     struct hodo_filter_vars *vars)
{
	unsigned int at = f->first;

	while (at < HODO_TEST_ACCEPT) {
		const struct hodo_filter_test *t = &f->test[at];
		bool met = false;

		if (t->kind <= HODO_TEST_F64) {
			const struct hodo_piece *piece = pieces + t->field.piece;

			if (t->field.piece < count && piece->len > t->field.last)
				met = ((widened(t, piece->data) & t->mask) - t->first <= t->span) != t->negate;
		} else {
			met = test_other(f, t, pieces, count, vars) == (t->negate ? NO : YES);
		}
		at = met ? t->yes : t->no;
	}
	return at == HODO_TEST_ACCEPT;
}
