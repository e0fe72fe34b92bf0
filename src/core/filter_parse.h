/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_parse.h - compiles a filter expression into a program of the filter machine (filter.h).
 */
#pragma once

#include "filter.h"
#include "filter_lex.h"

#define HODO_FILTER_EXPR_MAX 2048 /* bytes of an expression */
#define HODO_FILTER_NESTING_MAX 64 /* nested parentheses, unary operators and ?: */

/* An operand that is just a name or a text: it may be a label. */
struct hodo_filter_bare {
	size_t at; /* in the code */
	uint8_t op; /* FIELD or TEXT; 0: it is neither */
};

/* An expression that is being read. */
struct hodo_filter_level {
	uint8_t precedence; /* operators that bind less tightly belong to an outer one */
	uint8_t known;      /* what is known of its value so far */
	uint8_t then;       /* once the inner one has been read: */
	uint8_t first;      /* what is known of ?:'s first choice */
	struct hodo_filter_token token; /* the operator; the name before an index */
	const char *where;  /* the bracket */
	struct hodo_filter_bare left;
	size_t from;        /* in the code, the right side of && and || */
};

/*
 * Working memory, 16 KiB. The caller sets lexer; after success, names are those that the expression refers
 * to.
 */
struct hodo_filter_parser {
	const struct hodo_filter_lexer *lexer;
	const char *expr;
	struct hodo_filter_token token; /* the next one */
	unsigned int depth;             /* values on the machine's stack here */
	unsigned int names_n;
	const char *names[HODO_FILTER_NAMES_MAX]; /* in expr, names_len bytes each */
	uint8_t names_len[HODO_FILTER_NAMES_MAX];
	size_t len;
	struct hodo_filter_bare bare; /* the operand that was read last */
	unsigned int labels;
	char *error;
	size_t error_size;
	int rc;      /* the first error */
	bool opened; /* an operand must be read next */
	unsigned int levels;
	struct hodo_filter_level level[HODO_FILTER_NESTING_MAX];
	uint8_t operand[4 + HODO_FILTER_EXPR_MAX];
	uint8_t old[2 * (4 + HODO_FILTER_EXPR_MAX)];
	uint8_t code[HODO_FILTER_MAX];
};

/*
 * Compile the NUL-terminated expression into code, which has room for size bytes; at most HODO_FILTER_MAX are used.
 * *len is set to the program's length.
 *
 * docs/design/filter.md and hodo-filter(7) describe the language.
 *
 * Returns 0; -EINVAL if the expression is wrong; -E2BIG if it is too long or too deep, or the program does not fit. On
 * error, error (error_size bytes, may be NULL with 0) holds one line without newline, such as "expected ')' at column
 * 12"; columns count bytes from 1. Takes constant stack; thread safe.
 */
int hodo_filter_parse(struct hodo_filter_parser *p, const char *expr, uint8_t *code, size_t size, size_t *len,
		      char *error, size_t error_size);
