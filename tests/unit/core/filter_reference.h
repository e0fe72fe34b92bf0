/* SPDX-License-Identifier: MIT */
/*
 * filter_reference.h - a second implementation of the filter language: random expression
 * trees, their text, and their value by walking the tree. It shares no code with the
 * compiler and the machine, and computes with wider types where these avoid overflow.
 */
#ifndef TESTS_FILTER_REFERENCE_H
#define TESTS_FILTER_REFERENCE_H

#include "filter_event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* HODO_TEST_SEED, otherwise always the same number. */
uint64_t random_seed(void);
uint64_t random_u64(uint64_t *seed);
unsigned int random_below(uint64_t *seed, unsigned int n); /* 0 if n is 0 */

uint64_t random_int(uint64_t *seed);
#if HODO_FILTER_FLOAT
double random_double(uint64_t *seed);                           /* not negative, finite */
#endif
size_t random_text(uint64_t *seed, char *out, size_t max); /* its length */

/* The fields' names in random trees. */
#define RANDOM_NAMES 12
extern const char *const random_names[RANDOM_NAMES];

bool reference_glob(const char *p, size_t m, const char *t, size_t n);

enum node_kind { N_INT, N_FLOAT, N_TEXT, N_FIELD, N_HAS, N_UNARY, N_BINARY, N_SELECT };

/* What an operator requires, and therefore which constants the compiler refuses. */
enum class { LOGIC, COMPARE, GLOB, BITS, ARITHMETIC };

struct op {
	const char *text;
	unsigned int precedence; /* C's */
	enum class class;
};

struct node {
	enum node_kind kind;
	const struct op *op; /* binary */
	char sign;           /* unary: ! ~ - */
	uint64_t i;
	bool is_unsigned; /* written with u, or above INT64_MAX */
#if HODO_FILTER_FLOAT
	double d;
#endif
	const char *name;
	size_t len; /* of text */
	char text[16];
	struct node *kid[3];
};

/* A tree of at most this height; never NULL. */
struct node *node_random(uint64_t *seed, unsigned int height);
void node_free(struct node *n);

/* Prints the expression in C's notation, with the fewest parentheses possible or more; returns the length. */
size_t node_print(const struct node *n, uint64_t *seed, char *out, size_t size);

/* Whether the compiler must refuse it: an operator on constants that it cannot take. */
bool node_is_wrong(const struct node *n);

/* Whether the event is to be recorded. */
bool node_takes(const struct node *n, const struct test_event *e);

#endif
