/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_steps.c - compiles a filter program that is bound to the events of one kind into steps.
 *
 * A step (struct hodo_filter_test) compares one field with constants and has two successors. Conditions as
 * people write them, && and || of comparisons, need nothing else. Any other part stays instructions, which
 * one step runs.
 *
 * The program is walked once with a stack of what is known of each value (struct part). && and || of parts
 * are nodes of a tree, which is then laid out from its end, so that every step knows its successors when it
 * is made. Negations are pushed down to the leaves, where an absent value meets neither a test nor its
 * negation. So absent takes the way of false, which is right: above the leaves there are only && and ||, and
 * absent means not recorded in the end.
 *
 * A program that our compiler did not make may skip in ways that && and || do not; it becomes one step of
 * instructions. Parts that no event of this kind can have are known now: hodo_filter_never() says whether
 * that decides the whole.
 */
#include <stdint.h>

#include "fields.h"
#include "filter_impl.h"

#define NODES_MAX (2 * HODO_FILTER_TESTS_MAX)

enum shape {
	PART_CODE,   /* only its instructions are known */
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

/* -------------------------------------------------------------------- tests */

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

/* Turns a part that is tested for its truth into a tree. end: of its instructions. */
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

/* Turns a comparison of left and right, a field with a constant, into p. false: it is not of that form. Not inline: the
 * kernel's stack below it would be smaller. */
static __attribute__((__noinline__)) bool compare(struct binder *b, struct part *p, uint8_t op,
						  const struct part *left, const struct part *right)
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

/* Turns field & constant, which is compared or tested for its truth, into p. false: it is not of that form. */
static bool mask_field(struct part *p, const struct part *left, const struct part *right)
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
	p->is_unsigned = hodo_fields_is_unsigned64(field->type);
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

/* The label's value, or what replaces it. */
static void push_label(struct binder *b, size_t start, const uint8_t *p)
{
	const struct hodo_filter *f = b->f;

	if (f->label_set & (1u << p[1]))
		push_int(b, start, f->label[p[1]], f->fields[p[2]].type == HODO_TYPE_U64);
	else if (*p == HODO_FILTER_LABEL_TEXT)
		push_text(b, start, p + 3);
	else
		push(b, start, PART_ABSENT);
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
		else
			push_label(b, start, p);
		break;
	case HODO_FILTER_LABEL_TEXT:
		push_label(b, start, p);
		break;
	default:
		push(b, start, PART_CODE);
	}
}

/*
 * && and ||. The skip of the left side must land after the operator at end, or our compiler did not make it.
 */
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

/* Where the instructions of the part below the top end: a skip separates it from the next. */
static size_t end_of_left(const struct binder *b)
{
	const struct part *left = &b->stack[b->depth - 2];

	return left[1].start - (left->land ? 3u : 0u);
}

static bool is_compare(uint8_t op)
{
	return op >= HODO_FILTER_LT && op <= HODO_FILTER_UNLIKE;
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

/* Whether the operator's result is absent in every event of this kind. */
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
				  op != HODO_FILTER_AND || !mask_field(&result, left, &right))
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

/* The whole program as one part; false if our compiler would not have made it. */
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

/* Lays out the node's steps, last ones first. Returns the first step. Absent goes to no. */
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
