/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_steps.c - a filter program that is bound to the events of one kind becomes steps.
 *
 * A step (struct hodo_filter_test) is a comparison of one field with constants and two places to go on.
 * Nothing but such steps is needed for conditions as people write them: && and || of
 * comparisons. Any other part stays instructions, run by a step of its own.
 *
 * The program is walked once with a stack of what is known of each value (struct
 * part). && and || of parts are nodes of a tree, which is then laid out from its end: every
 * step knows where to go when it is made. Negations are carried to the leaves on the way, where
 * absent is neither met nor, negated, met: what is absent goes the way of false, which is right
 * because above the leaves there are only && and || then, and absent counts as not
 * recorded in the end.
 *
 * A program that no compiler made may skip in other ways than && and || do; it is
 * one step of instructions. Parts that no event of this kind can have are known now:
 * hodo_filter_never() says so of the whole.
 */
#include <stdint.h>

#include "filter.h"
#include "filter_impl.h"

#define NODES_MAX (2 * HODO_FILTER_TESTS_MAX)

enum shape {
	PART_CODE,   /* no more than its instructions is known */
	PART_ABSENT, /* in every event of this kind */
	PART_INT,    /* a constant */
	PART_TEXT,
	PART_DOUBLE, /* its bits */
	PART_FIELD,  /* with a mask, if it is not 0 */
	PART_TREE
};

/* What is known of a value on the machine's stack. */
struct part {
	enum shape shape;
	uint16_t start; /* of its instructions */
	uint16_t land;  /* where a skip that looked at it lands; 0: none did */
	bool is_unsigned;
	bool negate;    /* PART_TREE: its opposite is meant */
	uint8_t node;   /* PART_TREE */
	struct hodo_filter_field field;
	uint64_t value, mask; /* PART_TEXT: where it is in the program, and its length */
};

enum node_kind { NODE_AND, NODE_OR, NODE_TEST, NODE_TRUE, NODE_FALSE, NODE_ABSENT };
struct node {
	uint8_t kind;
	uint8_t left, right;
	bool negate_left, negate_right;
	struct hodo_filter_test test;
};

struct binder {
	struct hodo_filter *f;
	struct part stack[HODO_FILTER_STACK_MAX];
	unsigned int depth;
	struct node node[NODES_MAX];
	unsigned int nodes;
	bool full; /* more nodes or steps than there is room for */
};

/* -------------------------------------------------------------------- steps */

static uint8_t add_node(struct binder *b, uint8_t kind)
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
	p->node = add_node(b, (uint8_t)kind);
}

static struct hodo_filter_test *become_test(struct binder *b, struct part *p, enum hodo_test_kind kind,
					    const struct hodo_filter_field *field)
{
	struct hodo_filter_test *test;

	p->shape = PART_TREE;
	p->negate = false;
	p->node = add_node(b, NODE_TEST);
	test = &b->node[p->node].test;
	test->kind = (uint8_t)kind;
	if (field)
		test->field = *field;
	return test;
}

static enum hodo_test_kind int_kind(uint8_t type)
{
	switch (type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		return HODO_TEST_I8;
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
		return HODO_TEST_U8;
	case HODO_TYPE_I16:
		return HODO_TEST_I16;
	case HODO_TYPE_U16:
		return HODO_TEST_U16;
	case HODO_TYPE_I32:
		return HODO_TEST_I32;
	case HODO_TYPE_U32:
		return HODO_TEST_U32;
	}
	return HODO_TEST_64;
}

/* A part that is looked at for its truth becomes a tree. end: of its instructions. */
static void to_tree(struct binder *b, struct part *p, size_t end)
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
		if (hodo_filter_int_type(p->field.type)) {
			test = become_test(b, p, int_kind(p->field.type), &p->field);
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

static uint8_t turned(uint8_t op)
{
	switch (op) {
	case HODO_FILTER_LT:
		return HODO_FILTER_GT;
	case HODO_FILTER_LE:
		return HODO_FILTER_GE;
	case HODO_FILTER_GT:
		return HODO_FILTER_LT;
	case HODO_FILTER_GE:
		return HODO_FILTER_LE;
	}
	return op;
}

/*
 * The values from least to most of which `op` holds, beside low to high which equal the constant (one value for
 * integers), as first and span. false: of none. != is the opposite of ==, which the caller sees to.
 */
static bool interval(uint8_t op, uint64_t least, uint64_t most, uint64_t low, uint64_t high,
		     struct hodo_filter_test *test)
{
	uint64_t first = least, last = most;

	switch (op) {
	case HODO_FILTER_LT:
		if (low == least)
			return false;
		last = low - 1;
		break;
	case HODO_FILTER_LE:
		last = high;
		break;
	case HODO_FILTER_GT:
		if (high == most)
			return false;
		first = high + 1;
		break;
	case HODO_FILTER_GE:
		first = low;
		break;
	default:
		first = low;
		last = high;
	}
	test->mask = ~0ull;
	test->first = first;
	test->span = last - first;
	return true;
}

/* An integer field and an integer: the numbers themselves are compared, whatever their signedness. */
static void compare_int(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			const struct part *c)
{
	bool is_unsigned = field->is_unsigned;
	uint64_t least = is_unsigned ? 0 : 1ull << 63, most = is_unsigned ? UINT64_MAX : INT64_MAX;
	struct hodo_filter_test test, *to;

	/* Beyond what the field can be: of the unsigned below 0, of the signed above its greatest. */
	if (is_unsigned != c->is_unsigned && c->value >> 63) {
		bool less = is_unsigned ? op == HODO_FILTER_GT || op == HODO_FILTER_GE :
					  op == HODO_FILTER_LT || op == HODO_FILTER_LE;

		become_constant(b, p, less || op == HODO_FILTER_NE ? NODE_TRUE : NODE_FALSE);
		return;
	}
	if (!interval(op, least, most, c->value, c->value, &test)) {
		become_constant(b, p, NODE_FALSE);
		return;
	}
	to = become_test(b, p, int_kind(field->field.type), &field->field);
	to->mask = field->mask ? field->mask : ~0ull;
	to->first = test.first;
	to->span = test.span;
	p->negate = op == HODO_FILTER_NE;
}

#if HODO_FILTER_FLOAT
/* The bits of the constant as a double, if it is one exactly and no NaN. */
static bool exact_double(const struct part *c, uint64_t *bits)
{
	double d;

	*bits = c->value;
	if (c->shape == PART_DOUBLE)
		return (c->value & ~(1ull << 63)) <= 0x7ff0000000000000ull;
	/* So far every integer is a double, and converting it raises no exception. */
	if (c->is_unsigned ? c->value > 1ull << 53 :
			     (int64_t)c->value > 1ll << 53 || (int64_t)c->value < -(1ll << 53))
		return false;
	d = (double)(int64_t)c->value;
	__builtin_memcpy(bits, &d, sizeof(d));
	return true;
}

static bool compare_double(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			   const struct part *c)
{
	const uint64_t infinity = 0x7ff0000000000000ull, sign = 1ull << 63;
	struct hodo_filter_test test, *to;
	uint64_t bits, low, high;

	if (!exact_double(c, &bits))
		return false;
	low = high = hodo_filter_double_key(bits);
	if ((bits & ~sign) == 0) { /* both zeros are equal */
		low = hodo_filter_double_key(sign);
		high = hodo_filter_double_key(0);
	}
	if (!interval(op, hodo_filter_double_key(infinity | sign), hodo_filter_double_key(infinity), low, high,
		      &test)) {
		become_constant(b, p, NODE_FALSE);
		return true;
	}
	to = become_test(b, p, HODO_TEST_F64, &field->field);
	to->mask = test.mask;
	to->first = test.first;
	to->span = test.span;
	p->negate = op == HODO_FILTER_NE; /* a NaN is unequal to all */
	return true;
}
#else
static bool compare_double(struct binder *b, struct part *p, uint8_t op, const struct part *field,
			   const struct part *c)
{
	return false;
}
#endif

/* How a pattern can be matched without looking for what it matches. */
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

static bool is_compare(uint8_t op)
{
	return op >= HODO_FILTER_LT && op <= HODO_FILTER_UNLIKE;
}

/* left and right compared into p: a field with a constant. false: not so. */
static bool compare(struct binder *b, struct part *p, uint8_t op, const struct part *left,
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
	if (hodo_filter_int_type(field->field.type) && c->shape == PART_INT) {
		compare_int(b, p, op, field, c);
		return true;
	}
	if (field->field.type == HODO_TYPE_F64 && (c->shape == PART_INT || c->shape == PART_DOUBLE))
		return compare_double(b, p, op, field, c);
	return false;
}

/* field & constant: what is left of it is compared, or looked at for its truth. */
static bool mask(struct part *p, const struct part *left, const struct part *right)
{
	const struct part *field = left->shape == PART_FIELD ? left : right, *c = field == left ? right : left;

	if (field->shape != PART_FIELD || c->shape != PART_INT || c->value == 0 || field->mask ||
	    !hodo_filter_int_type(field->field.type))
		return false;
	p->shape = PART_FIELD;
	p->field = field->field;
	p->mask = c->value;
	p->is_unsigned = field->is_unsigned || c->is_unsigned;
	return true;
}

/* -------------------------------------------------------------------- walk */

static struct part *push(struct binder *b, size_t start, enum shape shape)
{
	struct part *p = &b->stack[b->depth++];

	__builtin_memset(p, 0, sizeof(*p));
	p->start = (uint16_t)start;
	p->shape = shape;
	return p;
}

static void push_int(struct binder *b, size_t start, int64_t value, bool is_unsigned)
{
	struct part *p = push(b, start, PART_INT);

	p->value = (uint64_t)value;
	p->is_unsigned = is_unsigned;
}

static void push_text(struct binder *b, size_t start, const uint8_t *len)
{
	struct part *p = push(b, start, PART_TEXT);

	p->value = (uint64_t)(len + 2 - b->f->code);
	p->mask = hodo_filter_u16(len);
}

static void push_field(struct binder *b, size_t start, const struct hodo_filter_field *field)
{
	struct part *p = push(b, start, PART_FIELD);

	p->field = *field;
	p->is_unsigned = field->type == HODO_TYPE_U64 || field->type == HODO_TYPE_PTR;
	if (field->type == HODO_FILTER_TYPE_VAR)
		p->shape = PART_CODE;
	else if (field->type == HODO_TYPE_NONE || field->type == HODO_TYPE_BYTES || (field->type & HODO_TYPE_ARRAY))
		p->shape = PART_ABSENT;
}

static void push_has(struct binder *b, size_t start, const struct hodo_filter_field *field)
{
	if (field->type == HODO_TYPE_STR || field->type == HODO_FILTER_TYPE_VAR)
		push(b, start, PART_CODE);
	else
		push_int(b, start, field->type != HODO_TYPE_NONE, false);
}

/* The constant or field that the instruction at p, at start, pushes. */
static void operand(struct binder *b, size_t start, const uint8_t *p)
{
	struct hodo_filter *f = b->f;
	int64_t i;

	switch (*p) {
	case HODO_FILTER_I8:
		push_int(b, start, (int8_t)p[1], false);
		break;
	case HODO_FILTER_I64:
	case HODO_FILTER_U64:
		__builtin_memcpy(&i, p + 1, sizeof(i));
		push_int(b, start, i, *p == HODO_FILTER_U64);
		break;
	case HODO_FILTER_F64:
		push_int(b, start, 0, false);
		b->stack[b->depth - 1].shape = PART_DOUBLE;
		__builtin_memcpy(&b->stack[b->depth - 1].value, p + 1, sizeof(i));
		f->flags |= HODO_FILTER_USES_FLOAT;
		break;
	case HODO_FILTER_TEXT:
		push_text(b, start, p + 1);
		break;
	case HODO_FILTER_FIELD:
		push_field(b, start, &f->fields[p[1]]);
		break;
	case HODO_FILTER_HAS:
		push_has(b, start, &f->fields[p[1]]);
		break;
	case HODO_FILTER_LABEL:
		if (f->fields[p[3]].type != HODO_TYPE_NONE)
			push_field(b, start, &f->fields[p[3]]);
		else if (f->label_set & (1u << p[1]))
			push_int(b, start, f->label[p[1]], f->fields[p[2]].type == HODO_TYPE_U64);
		else
			push(b, start, PART_ABSENT);
		break;
	case HODO_FILTER_LABEL_TEXT:
		if (f->label_set & (1u << p[1]))
			push_int(b, start, f->label[p[1]], f->fields[p[2]].type == HODO_TYPE_U64);
		else
			push_text(b, start, p + 3);
		break;
	default:
		push(b, start, PART_CODE);
	}
}

/* && and ||. The skip of the left side must land behind the operator at end, or it is none of a compiler's. */
static bool logic(struct binder *b, uint8_t op, size_t op_at, size_t left_end)
{
	struct part *left = &b->stack[b->depth - 2], *right = left + 1;
	uint8_t node;

	if ((left->land && left->land != op_at + 1) || right->land)
		return false;
	to_tree(b, left, left_end);
	to_tree(b, right, op_at);
	node = add_node(b, op == HODO_FILTER_LAND ? NODE_AND : NODE_OR);
	b->node[node].left = left->node;
	b->node[node].right = right->node;
	b->node[node].negate_left = left->negate;
	b->node[node].negate_right = right->negate;
	left->node = node;
	left->negate = false;
	left->land = 0;
	b->depth--;
	return true;
}

/* Where the instructions of the part below the top end: a skip stands between it and the next. */
static size_t end_of_left(const struct binder *b)
{
	const struct part *left = &b->stack[b->depth - 2];

	return left[1].start - (left->land ? 3u : 0u);
}

static bool is_text(const struct part *p)
{
	return p->shape == PART_TEXT || (p->shape == PART_FIELD && p->field.type == HODO_TYPE_STR);
}

static bool is_number(const struct part *p)
{
	return p->shape == PART_INT || p->shape == PART_DOUBLE ||
	       (p->shape == PART_FIELD && p->field.type != HODO_TYPE_STR);
}

/* What the operator gives is absent in every event of this kind. */
static bool is_absent(uint8_t op, const struct part *left, const struct part *right)
{
	if (left->shape == PART_ABSENT || right->shape == PART_ABSENT)
		return true;
	if (op == HODO_FILTER_MATCH || op == HODO_FILTER_UNLIKE)
		return is_number(left) || is_number(right);
	if (is_compare(op))
		return (is_text(left) && is_number(right)) || (is_number(left) && is_text(right));
	return is_text(left) || is_text(right);
}

static bool binary(struct binder *b, uint8_t op, size_t at)
{
	struct part *left = &b->stack[b->depth - 2], right = left[1], result = { .start = left->start };

	if (op == HODO_FILTER_LAND || op == HODO_FILTER_LOR)
		return logic(b, op, at, end_of_left(b));
	if (left->land || right.land)
		return false;
	if (is_absent(op, left, &right))
		result.shape = PART_ABSENT;
	else if (is_compare(op) ? !compare(b, &result, op, left, &right) :
				  op != HODO_FILTER_AND || !mask(&result, left, &right))
		result.shape = PART_CODE;
	*left = result;
	b->depth--;
	return true;
}

static bool unary(struct binder *b, uint8_t op, size_t at)
{
	struct part *p = &b->stack[b->depth - 1];

	if (p->land)
		return false;
	if (op == HODO_FILTER_NOT) {
		to_tree(b, p, at);
		p->negate = !p->negate;
	} else if (p->shape != PART_ABSENT) {
		p->shape = PART_CODE;
	}
	return true;
}

static bool choose(struct binder *b)
{
	struct part *p = &b->stack[b->depth - 3];

	if (p->land || p[1].land || p[2].land)
		return false;
	p->shape = p->shape == PART_ABSENT ? PART_ABSENT : PART_CODE;
	b->depth -= 2;
	return true;
}

/* The whole program as one part; false if it is not made as a compiler would. */
static bool walk(struct binder *b)
{
	const uint8_t *code = b->f->code;
	size_t pos = 0, bytes;
	struct part *top;

	for (; pos < b->f->len; pos += bytes) {
		uint8_t op = code[pos];
		bool good = true;

		bytes = 1 + hodo_filter_operand(op, code + pos + 1);
		top = &b->stack[b->depth - (b->depth > 0)];
		if (op == HODO_FILTER_LAND_SKIP || op == HODO_FILTER_LOR_SKIP) {
			if (top->land)
				return false;
			top->land = (uint16_t)(pos + bytes + hodo_filter_u16(code + pos + 1));
			/* The operator that it belongs to. */
			good = top->land > pos + bytes && top->land <= b->f->len &&
			       code[top->land - 1] ==
				       (op == HODO_FILTER_LAND_SKIP ? HODO_FILTER_LAND : HODO_FILTER_LOR);
		} else if (op <= HODO_FILTER_LEN) {
			operand(b, pos, code + pos);
		} else if (op == HODO_FILTER_SELECT) {
			good = choose(b);
		} else if (op <= HODO_FILTER_ELEMENT) {
			good = unary(b, op, pos);
		} else {
			good = binary(b, op, pos);
		}
		if (!good || b->full)
			return false;
	}
	if (b->stack[0].land)
		return false;
	to_tree(b, &b->stack[0], b->f->len);
	return !b->full;
}

/* ------------------------------------------------------------------- layout */

/* Lays out the node's steps, last ones first; where to begin. What is absent goes to no. */
static uint8_t lay_out(struct binder *b, unsigned int n, bool negate, uint8_t yes, uint8_t no)
{
	const struct node *node = &b->node[n];
	struct hodo_filter_test *test;
	uint8_t right;

	switch (node->kind) {
	case NODE_TRUE:
		return negate ? no : yes;
	case NODE_FALSE:
		return negate ? yes : no;
	case NODE_ABSENT:
		return no;
	case NODE_TEST:
		if (b->f->tests == HODO_FILTER_TESTS_MAX) {
			b->full = true;
			return no;
		}
		test = &b->f->test[b->f->tests];
		*test = node->test;
		test->negate = negate;
		test->yes = yes;
		test->no = no;
		return b->f->tests++;
	}
	right = lay_out(b, node->right, negate != node->negate_right, yes, no);
	if ((node->kind == NODE_AND) != negate)
		return lay_out(b, node->left, negate != node->negate_left, right, no);
	return lay_out(b, node->left, negate != node->negate_left, yes, right);
}

static void all_in_one(struct hodo_filter *f)
{
	f->tests = 1;
	f->first = 0;
	__builtin_memset(&f->test[0], 0, sizeof(f->test[0]));
	f->test[0].kind = HODO_TEST_CODE;
	f->test[0].yes = HODO_TEST_ACCEPT;
	f->test[0].no = HODO_TEST_REJECT;
	f->test[0].bytes = f->code;
	f->test[0].len = f->len;
}

void hodo_filter_make_steps(struct hodo_filter *f)
{
	struct binder b;

	b.f = f;
	b.depth = b.nodes = 0;
	b.full = false;
	if (walk(&b))
		f->first = lay_out(&b, b.stack[0].node, b.stack[0].negate, HODO_TEST_ACCEPT, HODO_TEST_REJECT);
	else
		b.full = true;
	if (b.full)
		all_in_one(f);
}
