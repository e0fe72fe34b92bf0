/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_steps.h - between filter_steps.c (the walk through a program) and filter_tests.c (tests of fields). */
#ifndef HODO_CORE_FILTER_STEPS_H
#define HODO_CORE_FILTER_STEPS_H

#include "fields.h"
#include "filter.h"
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

uint8_t hodo_filter_add_node(struct binder *b, uint8_t kind);
/* Turns a part that is tested for its truth into a tree. end: of its instructions. */
void hodo_filter_to_tree(struct binder *b, struct part *p, size_t end);
/* Turns a comparison of left and right, a field with a constant, into p. false: it is not of that form. */
bool hodo_filter_compare(struct binder *b, struct part *p, uint8_t op, const struct part *left,
			 const struct part *right);
/* Turns field & constant, which is compared or tested for its truth, into p. false: it is not of that form.
 * */
bool hodo_filter_mask(struct part *p, const struct part *left, const struct part *right);

#endif
