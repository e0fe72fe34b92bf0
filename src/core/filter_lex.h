/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_lex.h - the tokens of a filter expression. Only filter_parse.c uses it.
 */
#pragma once

#include "bounded_text.h"

enum hodo_filter_token_type {
	HODO_TOKEN_END,
	HODO_TOKEN_INT,
	HODO_TOKEN_FLOAT,
	HODO_TOKEN_TEXT,
	HODO_TOKEN_NAME,
	HODO_TOKEN_OP,
};

/* An operator or a punctuation mark. */
struct hodo_filter_sign {
	char text[3];
	uint8_t precedence; /* of a binary operator: higher binds tighter; 0: not binary */
	uint8_t binary, unary; /* instructions; 0: none */
};

struct hodo_filter_token {
	enum hodo_filter_token_type type;
	const struct hodo_filter_sign *sign; /* of an OP */
	const char *start; /* in the expression; of a text, with its quotes */
	size_t len;
	bool is_unsigned;  /* of an integer: has the suffix u, or is above INT64_MAX */
	uint64_t i;
	uint64_t d_bits;   /* of a double */
};

/* What the lexer's caller supplies. */
struct hodo_filter_lexer {
	/*
	 * Reads the n bytes at text, a floating-point number without a suffix. unit_ns 0: gives the bits of
	 * the double; else the number times unit_ns as an integer below 2^63, rounded to even. 0; -EINVAL:
	 * not a number; -ERANGE: too large; or another error. NULL: floating-point numbers are refused.
	 */
	int (*real)(const char *text, size_t n, uint64_t unit_ns, uint64_t *value);
};

/*
 * Read the token at or after p. Returns 0, or -EINVAL with a message (without the column, which is that of
 * token->start) in error.
 */
int hodo_filter_lex(const struct hodo_filter_lexer *lexer, const char *p, struct hodo_filter_token *token,
		    struct hodo_bounded *error);

/*
 * Decode the text token into out, which has room for its len bytes. Returns the number of bytes. The token's
 * escapes were checked when it was read.
 */
size_t hodo_filter_lex_text(const struct hodo_filter_token *token, char *out);
