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

#include "filter_steps.h"

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
	hodo_filter_to_tree(b, left, left_end);
	hodo_filter_to_tree(b, right, op_at);
	node = hodo_filter_add_node(b, op == HODO_FILTER_LAND ? NODE_AND : NODE_OR);
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
	else if (is_compare(op) ? !hodo_filter_compare(b, &result, op, left, &right) :
				  op != HODO_FILTER_AND || !hodo_filter_mask(&result, left, &right))
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
		hodo_filter_to_tree(b, p, at);
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
	hodo_filter_to_tree(b, &b->stack[0], b->f->len);
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
