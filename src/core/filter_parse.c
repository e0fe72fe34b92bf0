/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_parse.c - compiles a filter expression into a program of the filter
 * machine: a precedence climber that emits postfix as it reads. Whatever is open (a parenthesis, an operator
 * whose right side is being read) is kept in the caller's memory, not on the stack, which is small in the
 * kernel. The first error stays in p->rc; nothing is read or emitted after it.
 */
#include "filter_emit.h"

#include <errno.h>

/* What is known of an expression's value before it runs. */
enum known { ANY, INTEGER, FLOATING, TEXT };

/* What to do once the expression that a level waits for has been read. */
enum then {
	THEN_GROUP,
	THEN_ELEMENT,
	THEN_UNARY,
	THEN_LOGIC,
	THEN_FIRST_CHOICE,
	THEN_SECOND_CHOICE,
	THEN_BINARY
};

#define LOWEST 1
#define UNARY 12

static void advance(struct hodo_filter_parser *p)
{
	char words[96];
	struct hodo_bounded what = hodo_bounded_to(words, sizeof(words));

	if (!p->rc && hodo_filter_lex(p->lexer, p->token.start + p->token.len, &p->token, &what))
		hodo_filter_fail(p, -EINVAL, p->token.start, words);
}

static bool at(const struct hodo_filter_parser *p, char sign)
{
	return p->token.type == HODO_TOKEN_OP && p->token.sign->text[0] == sign && !p->token.sign->text[1];
}

static void expect(struct hodo_filter_parser *p, char sign, const char *wanted)
{
	if (!at(p, sign))
		hodo_filter_unexpected(p, wanted);
	advance(p);
}

/* ------------------------------------------------------------------ operands */

/* Begins an inner expression; when it has been read, the outer one continues with `then`. */
static void open_level(struct hodo_filter_parser *p, enum then then, unsigned int precedence)
{
	if (p->levels == HODO_FILTER_NESTING_MAX) {
		hodo_filter_fail(p, -E2BIG, p->token.start, "expression too deep");
		return;
	}
	if (p->levels)
		p->level[p->levels - 1].then = (uint8_t)then;
	p->level[p->levels].precedence = (uint8_t)precedence;
	p->level[p->levels++].known = ANY;
	p->opened = true;
}

static struct hodo_filter_level *top(struct hodo_filter_parser *p)
{
	return &p->level[p->levels - 1];
}

static bool is_word(const struct hodo_filter_token *t, const char *word)
{
	return t->type == HODO_TOKEN_NAME && hodo_bounded_is(t->start, t->len, word);
}

/* The rest of a function of one field, from the parenthesis on. */
static void parse_call(struct hodo_filter_parser *p, const struct hodo_filter_token *name)
{
	if (!is_word(name, "has") && !is_word(name, "len"))
		hodo_filter_fail(p, -EINVAL, name->start, "no such function (the functions are has(NAME) "
				 "and len(NAME))");
	advance(p);
	if (p->token.type != HODO_TOKEN_NAME)
		hodo_filter_unexpected(p, "expected a field's name");
	hodo_filter_emit_name(p, is_word(name, "has") ? HODO_FILTER_HAS : HODO_FILTER_LEN, &p->token, 0);
	advance(p);
	expect(p, ')', "expected ')'");
}

/* NAME[i]: i was read. */
static void finish_element(struct hodo_filter_parser *p, enum known index)
{
	struct hodo_filter_level *l = top(p);

	if (index == TEXT || index == FLOATING)
		hodo_filter_fail(p, -EINVAL, l->where, "'[' needs an integer");
	expect(p, ']', "expected ']'");
	hodo_filter_emit_name(p, HODO_FILTER_ELEMENT, &l->token, 1);
}

/* A name, has(NAME), len(NAME), NAME[i], true or false. */
static void parse_name(struct hodo_filter_parser *p)
{
	struct hodo_filter_token name = p->token;
	struct hodo_filter_level *l = top(p);
	bool is_var = name.start[0] == '$';

	advance(p);
	l->known = INTEGER;
	if (is_word(&name, "true") || is_word(&name, "false")) {
		hodo_filter_emit_int(p, is_word(&name, "true"), false);
	} else if (is_word(&name, "NULL")) {
		hodo_filter_fail(p, -EINVAL, name.start, "nothing can be compared with NULL (use has(NAME))");
	} else if (at(p, '(')) {
		parse_call(p, &name);
	} else {
		l->known = !is_var ? ANY : is_word(&name, hodo_filter_var_names[HODO_FILTER_COMM]) ? TEXT : INTEGER;
		if (at(p, '[')) {
			l->token = name;
			l->where = p->token.start;
			advance(p);
			open_level(p, THEN_ELEMENT, LOWEST);
			return;
		}
		p->bare = (struct hodo_filter_bare){ p->len, is_var ? 0 : HODO_FILTER_FIELD };
		hodo_filter_emit_name(p, HODO_FILTER_FIELD, &name, 0);
	}
}

static void parse_unary(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);

	l->token = p->token;
	advance(p);
	/* -N as one constant, so that the least integer can be written and stays signed. */
	if (l->token.sign->unary == HODO_FILTER_NEG && p->token.type == HODO_TOKEN_INT &&
	    (!p->token.is_unsigned || p->token.i == 1ull << 63)) {
		l->known = INTEGER;
		hodo_filter_emit_int(p, -p->token.i, false);
		advance(p);
		return;
	}
	open_level(p, THEN_UNARY, UNARY);
}

/* Its operand was read. */
static void finish_unary(struct hodo_filter_parser *p, enum known known)
{
	struct hodo_filter_level *l = top(p);
	uint8_t op = l->token.sign->unary;

	if ((known == TEXT && op != HODO_FILTER_NOT) || (known == FLOATING && op == HODO_FILTER_INV)) {
		l->token.len = 1;
		hodo_filter_fail_quoting(p, "", &l->token,
					 op == HODO_FILTER_INV ? "' needs an integer" : "' needs a number");
	}
	l->known = (uint8_t)(op == HODO_FILTER_NEG ? known : INTEGER);
	hodo_filter_emit(p, op, NULL, 0, 1);
}

static void parse_operand(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);

	p->opened = false;
	p->bare = (struct hodo_filter_bare){ p->len, 0 };
	switch (p->token.type) {
	case HODO_TOKEN_INT:
		l->known = INTEGER;
		hodo_filter_emit_int(p, p->token.i, p->token.is_unsigned);
		break;
	case HODO_TOKEN_FLOAT:
		l->known = FLOATING;
		hodo_filter_emit(p, HODO_FILTER_F64, &p->token.d_bits, sizeof(p->token.d_bits), 0);
		break;
	case HODO_TOKEN_TEXT:
		l->known = TEXT;
		p->bare.op = HODO_FILTER_TEXT;
		hodo_filter_emit_text(p);
		break;
	case HODO_TOKEN_NAME:
		parse_name(p);
		return;
	case HODO_TOKEN_OP:
		if (p->token.sign->unary) {
			p->token.len = 1; /* of !~, which has no left side here */
			parse_unary(p);
			return;
		}
		if (!at(p, '('))
			hodo_filter_unexpected(p, "expected a value");
		advance(p);
		open_level(p, THEN_GROUP, LOWEST);
		return;
	case HODO_TOKEN_END:
		hodo_filter_unexpected(p, "expected a value");
	}
	advance(p);
}

/* ----------------------------------------------------------------- operators */

/* Refuse what could not give a value for any event. Returns the kind of the result. */
static enum known check_kinds(struct hodo_filter_parser *p, const struct hodo_filter_token *sign, enum known a,
			      enum known b)
{
	enum known known = INTEGER;
	const char *want = NULL;

	switch (sign->sign->binary) {
	case HODO_FILTER_MATCH:
	case HODO_FILTER_UNLIKE:
		if ((a != ANY && a != TEXT) || (b != ANY && b != TEXT))
			want = "' needs strings";
		break;
	case HODO_FILTER_LT ... HODO_FILTER_NE:
		if (a != ANY && b != ANY && (a == TEXT) != (b == TEXT))
			want = "' needs two numbers or two strings";
		break;
	case HODO_FILTER_MOD:
	case HODO_FILTER_SHL ... HODO_FILTER_OR:
		if (a == TEXT || b == TEXT || a == FLOATING || b == FLOATING)
			want = "' needs integers";
		break;
	case HODO_FILTER_MUL:
	case HODO_FILTER_DIV:
	case HODO_FILTER_ADD:
	case HODO_FILTER_SUB:
		if (a == TEXT || b == TEXT)
			want = "' needs numbers";
		known = a == FLOATING || b == FLOATING ? FLOATING : a == ANY || b == ANY ? ANY : INTEGER;
		break;
	}
	if (want)
		hodo_filter_fail_quoting(p, "", sign, want);
	return known;
}

/* The next operator, if it binds tightly enough to belong to this level. */
static bool parse_operator(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);
	unsigned int found = p->token.type == HODO_TOKEN_OP ? p->token.sign->precedence : 0;
	uint16_t skip = 0;
	uint8_t op;

	if (found == 0 || found < l->precedence)
		return false;
	l->token = p->token;
	op = l->token.sign->binary;
	advance(p);
	if (op == HODO_FILTER_SELECT) {
		open_level(p, THEN_FIRST_CHOICE, LOWEST);
	} else if (op == HODO_FILTER_LAND || op == HODO_FILTER_LOR) {
		/* The right side is skipped if the left decides. */
		op = op == HODO_FILTER_LAND ? HODO_FILTER_LAND_SKIP : HODO_FILTER_LOR_SKIP;
		hodo_filter_emit(p, op, &skip, sizeof(skip), 1);
		l->from = p->len;
		open_level(p, THEN_LOGIC, found + 1);
	} else {
		l->left = p->bare;
		open_level(p, THEN_BINARY, found + 1);
	}
	return true;
}

/* && or ||: the right side was read. */
static void finish_logic(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);
	uint16_t skip;

	hodo_filter_emit(p, l->token.sign->binary, NULL, 0, 2);
	skip = (uint16_t)(p->len - l->from);
	memcpy(p->code + l->from - sizeof(skip), &skip, sizeof(skip));
	l->known = INTEGER;
}

static void finish_binary(struct hodo_filter_parser *p, enum known right)
{
	struct hodo_filter_level *l = top(p);
	uint8_t op = l->token.sign->binary;

	l->known = (uint8_t)check_kinds(p, &l->token, l->known, right);
	if (op >= HODO_FILTER_LT && op <= HODO_FILTER_NE)
		hodo_filter_allow_labels(p, &l->left);
	hodo_filter_emit(p, op, NULL, 0, 2);
}

/* An expression of kind known was read: finishes what waited for it. */
static void finish(struct hodo_filter_parser *p, enum known known)
{
	struct hodo_filter_level *l = top(p);

	switch ((enum then)l->then) {
	case THEN_GROUP:
		l->known = (uint8_t)known;
		expect(p, ')', "expected ')'");
		return; /* an operand in parentheses may be bare */
	case THEN_ELEMENT:
		finish_element(p, known);
		break;
	case THEN_UNARY:
		finish_unary(p, known);
		break;
	case THEN_LOGIC:
		finish_logic(p);
		break;
	case THEN_FIRST_CHOICE:
		expect(p, ':', "expected ':'");
		l->first = (uint8_t)known;
		open_level(p, THEN_SECOND_CHOICE, LOWEST);
		break;
	case THEN_SECOND_CHOICE:
		l->known = l->first == known ? (uint8_t)known : ANY;
		hodo_filter_emit(p, HODO_FILTER_SELECT, NULL, 0, 3);
		break;
	case THEN_BINARY:
		finish_binary(p, known);
	}
	p->bare.op = 0;
}

/* An operand, and all binary operators after it. */
static void parse(struct hodo_filter_parser *p)
{
	open_level(p, THEN_GROUP, LOWEST);
	while (!p->rc && p->levels) {
		if (p->opened) {
			parse_operand(p);
		} else if (!parse_operator(p)) {
			enum known known = top(p)->known;

			if (--p->levels)
				finish(p, known);
		}
	}
}

/* ------------------------------------------------------------------- program */

int hodo_filter_parse(struct hodo_filter_parser *p, const char *expr, uint8_t *code, size_t size, size_t *len,
		      char *error, size_t error_size)
{
	size_t n = 0;

	p->expr = expr;
	p->error = error;
	p->error_size = error_size;
	p->token = (struct hodo_filter_token){ .start = expr };
	p->bare = (struct hodo_filter_bare){ 0, 0 };
	p->levels = p->depth = p->names_n = p->labels = 0;
	p->len = 0;
	p->rc = 0;
	while (n <= HODO_FILTER_EXPR_MAX && expr[n])
		n++;
	if (n > HODO_FILTER_EXPR_MAX)
		hodo_filter_fail(p, -E2BIG, expr + HODO_FILTER_EXPR_MAX, "expression too long");
	advance(p);
	parse(p);
	if (p->token.type != HODO_TOKEN_END)
		hodo_filter_unexpected(p, "expected an operator");
	hodo_filter_assemble(p, code, size, len);
	return p->rc;
}
