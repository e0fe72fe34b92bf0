/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_tests.c - turns what is known of a filter program's values into tests of fields, see filter_steps.c.
 * */
#include <stdint.h>

#include "filter_steps.h"

uint8_t hodo_filter_add_node(struct binder *b, uint8_t kind)
{
	if (b->nodes == NODES_MAX) {
		b->full = true;
		return 0;
	}
	b->node[b->nodes].kind = kind;
	return (uint8_t)b->nodes++;
}

static void become_constant(struct binder *b, struct part *p, enum node_kind kind)
{
	p->shape = PART_TREE;
	p->negate = false;
	p->node = hodo_filter_add_node(b, (uint8_t)kind);
}

static struct hodo_filter_test *become_test(struct binder *b, struct part *p, enum hodo_test_kind kind,
					    const struct hodo_filter_field *field)
{
	struct hodo_filter_test *test;

	p->shape = PART_TREE;
	p->negate = false;
	p->node = hodo_filter_add_node(b, NODE_TEST);
	test = &b->node[p->node].test;
	test->kind = (uint8_t)kind;
	if (field)
		test->field = *field;
	return test;
}

/* Of a number's type. */
static enum hodo_test_kind kind_of(uint8_t type)
{
	static const uint8_t kinds[HODO_TYPE_PTR + 1] = {
		[HODO_TYPE_I8] = HODO_TEST_I8, [HODO_TYPE_CHAR] = HODO_TEST_I8, [HODO_TYPE_U8] = HODO_TEST_U8,
		[HODO_TYPE_BOOL] = HODO_TEST_U8, [HODO_TYPE_I16] = HODO_TEST_I16, [HODO_TYPE_U16] = HODO_TEST_U16,
		[HODO_TYPE_I32] = HODO_TEST_I32, [HODO_TYPE_U32] = HODO_TEST_U32, [HODO_TYPE_I64] = HODO_TEST_64,
		[HODO_TYPE_U64] = HODO_TEST_64, [HODO_TYPE_PTR] = HODO_TEST_64,
		[HODO_TYPE_F64] = HODO_TEST_F64,
	};

	return kinds[type];
}

void hodo_filter_to_tree(struct binder *b, struct part *p, size_t end)
{
	struct hodo_filter_test *test;

	switch (p->shape) {
	case PART_TREE:
		break;
	case PART_ABSENT:
		become_constant(b, p, NODE_ABSENT);
		break;
	case PART_INT:
		become_constant(b, p, p->value ? NODE_TRUE : NODE_FALSE);
		break;
	case PART_TEXT: /* a pointer that is not NULL */
		become_constant(b, p, NODE_TRUE);
		break;
	case PART_FIELD:
		if (p->field.type == HODO_TYPE_STR) {
			become_test(b, p, HODO_TEST_TEXT, &p->field);
			break;
		}
		if (hodo_fields_is_integer(p->field.type)) {
			test = become_test(b, p, kind_of(p->field.type), &p->field);
			test->mask = p->mask ? p->mask : ~0ull;
			test->first = test->span = 0;
			p->negate = true;
			break;
		}
		__attribute__((__fallthrough__));
	case PART_CODE:
	case PART_DOUBLE:
		test = become_test(b, p, HODO_TEST_CODE, NULL);
		test->bytes = b->f->code + p->start;
		test->len = end - p->start;
	}
}

/* -------------------------------------------------------------- comparisons */

/* The operator that means the same with its operands swapped. */
static uint8_t turned(uint8_t op)
{
	static const uint8_t other[] = { HODO_FILTER_GT, HODO_FILTER_GE, HODO_FILTER_LT, HODO_FILTER_LE };

	return op <= HODO_FILTER_GE ? other[op - HODO_FILTER_LT] : op;
}

/* The values that a field may have, in order, and those that equal the constant: for integers, one. */
struct range {
	uint64_t least, most, low, high;
};

/* Turns p into the test for those values for which `op` holds. */
static void become_interval(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			    const struct range *r)
{
	uint64_t first = r->low, last = r->high;
	struct hodo_filter_test *test;

	if ((op == HODO_FILTER_LT && r->low == r->least) || (op == HODO_FILTER_GT && r->high == r->most)) {
		become_constant(b, p, NODE_FALSE);
		return;
	}
	if (op == HODO_FILTER_LT || op == HODO_FILTER_LE)
		first = r->least;
	if (op == HODO_FILTER_GT || op == HODO_FILTER_GE)
		last = r->most;
	test = become_test(b, p, kind_of(field->field.type), &field->field);
	test->mask = field->mask ? field->mask : ~0ull;
	test->first = op == HODO_FILTER_GT ? r->high + 1 : first;
	test->span = (op == HODO_FILTER_LT ? r->low - 1 : last) - test->first;
	p->negate = op == HODO_FILTER_NE; /* a NaN is unequal to all */
}

/* An integer field and an integer: their values are compared, whatever their signedness. */
static void compare_int(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			const struct part *c)
{
	bool is_unsigned = field->is_unsigned;
	const struct range range = { is_unsigned ? 0 : 1ull << 63, is_unsigned ? UINT64_MAX : INT64_MAX, c->value,
				     c->value };

	/* Out of the field's range: negative for an unsigned field, above INT64_MAX for a signed one. */
	if (is_unsigned != c->is_unsigned && c->value >> 63) {
		bool less = is_unsigned ? op == HODO_FILTER_GT || op == HODO_FILTER_GE :
					  op == HODO_FILTER_LT || op == HODO_FILTER_LE;

		become_constant(b, p, less || op == HODO_FILTER_NE ? NODE_TRUE : NODE_FALSE);
		return;
	}
	become_interval(b, p, op, field, &range);
}

#if HODO_FILTER_FLOAT
/* The bits of the constant as a double, if that is exact and not a NaN. */
static bool exact_double(const struct part *c, uint64_t *bits)
{
	uint64_t size;

	*bits = c->value;
	if (c->shape == PART_DOUBLE)
		return (c->value & ~(1ull << 63)) <= 0x7ff0000000000000ull;
	/* Up to here, every integer is a double. Its bits are computed, not converted: the floating-point
	 * state here is the program's. */
	if (c->is_unsigned ? c->value > 1ull << 53 :
			     (int64_t)c->value > 1ll << 53 || (int64_t)c->value < -(1ll << 53))
		return false;
	size = (int64_t)c->value < 0 ? 0 - c->value : c->value;
	if (size) {
		unsigned top = 63u - (unsigned)__builtin_clzll(size);

		size = top > 52 ? size >> 1 : size << (52 - top);
		*bits = (c->value & 1ull << 63) | (uint64_t)(top + 1023) << 52 | (size & ((1ull << 52) - 1));
	}
	return true;
}

static bool compare_double(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			   const struct part *c)
{
	const uint64_t infinity = 0x7ff0000000000000ull, sign = 1ull << 63;
	struct range range = { hodo_filter_double_key(infinity | sign), hodo_filter_double_key(infinity), 0, 0 };
	uint64_t bits;

	if (!exact_double(c, &bits))
		return false;
	range.low = range.high = hodo_filter_double_key(bits);
	if ((bits & ~sign) == 0) { /* both zeros are equal */
		range.low = hodo_filter_double_key(sign);
		range.high = hodo_filter_double_key(0);
	}
	become_interval(b, p, op, field, &range);
	return true;
}
#endif

/* How a pattern can be matched without searching. */
static enum hodo_test_kind glob_kind(const uint8_t **text, size_t *len)
{
	const uint8_t *p = *text;
	size_t n = *len, i;
	bool front = n > 0 && p[0] == '*', behind = n > front && p[n - 1] == '*';

	for (i = front; i < n - behind; i++)
		if (p[i] == '*' || p[i] == '?' || p[i] == '[' || p[i] == '\\')
			return HODO_TEST_GLOB;
	if (front && behind)
		return HODO_TEST_GLOB;
	*text += front;
	*len -= (size_t)front + behind;
	return front ? HODO_TEST_SUFFIX : behind ? HODO_TEST_PREFIX : HODO_TEST_SAME;
}

static bool compare_text(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			 const struct part *c)
{
	const uint8_t *text = b->f->code + c->value;
	enum hodo_test_kind kind = HODO_TEST_SAME;
	struct hodo_filter_test *test;
	size_t len = c->mask;

	if (op == HODO_FILTER_MATCH || op == HODO_FILTER_UNLIKE)
		kind = glob_kind(&text, &len);
	else if (op != HODO_FILTER_EQ && op != HODO_FILTER_NE)
		return false;
	test = become_test(b, p, kind, &field->field);
	test->bytes = text;
	test->len = len;
	p->negate = op == HODO_FILTER_NE || op == HODO_FILTER_UNLIKE;
	return true;
}

bool hodo_filter_compare(struct binder *b, struct part *p, uint8_t op, const struct part *left,
			 const struct part *right)
{
	const struct part *field = left, *c = right;
	bool matches = op == HODO_FILTER_MATCH || op == HODO_FILTER_UNLIKE;

	if (!matches && right->shape == PART_FIELD) {
		field = right;
		c = left;
		op = turned(op);
	}
	if (field->shape != PART_FIELD)
		return false;
	if (field->field.type == HODO_TYPE_STR && c->shape == PART_TEXT)
		return compare_text(b, p, op, field, c);
	if (matches)
		return false;
	if (hodo_fields_is_integer(field->field.type) && c->shape == PART_INT) {
		compare_int(b, p, op, field, c);
		return true;
	}
#if HODO_FILTER_FLOAT
	if (field->field.type == HODO_TYPE_F64 && (c->shape == PART_INT || c->shape == PART_DOUBLE))
		return compare_double(b, p, op, field, c);
#endif
	return false;
}

bool hodo_filter_mask(struct part *p, const struct part *left, const struct part *right)
{
	const struct part *field = left->shape == PART_FIELD ? left : right, *c = field == left ? right : left;

	if (field->shape != PART_FIELD || c->shape != PART_INT || c->value == 0 || field->mask ||
	    !hodo_fields_is_integer(field->field.type))
		return false;
	p->shape = PART_FIELD;
	p->field = field->field;
	p->mask = c->value;
	p->is_unsigned = field->is_unsigned || c->is_unsigned;
	return true;
}
