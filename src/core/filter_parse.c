/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_parse.c - compiles a filter expression into a program of the filter
 * machine: a precedence climber that emits postfix as it reads. What is open (a parenthesis, an operator whose right
 * side is being read) lies in the caller's memory, not on the stack, which is short in the kernel.
 */
#include "filter_emit.h"

#include <errno.h>

/* What is known of an expression's value before any event is seen. */
enum known { ANY, INTEGER, FLOATING, TEXT };

/* What is to be done when the expression has been read that a level waits for. */
enum then {
	THEN_GROUP,
	THEN_ELEMENT,
	THEN_UNARY,
	THEN_LOGIC,
	THEN_FIRST_CHOICE,
	THEN_SECOND_CHOICE,
	THEN_BINARY
};

static const struct {
	uint8_t precedence; /* higher binds closer; 0: no binary operator */
	uint8_t op;
} binaries[HODO_SIGNS] = {
	[HODO_SIGN_QUESTION] = { 1, HODO_FILTER_SELECT },
	[HODO_SIGN_LOR] = { 2, HODO_FILTER_LOR },
	[HODO_SIGN_LAND] = { 3, HODO_FILTER_LAND },
	[HODO_SIGN_OR] = { 4, HODO_FILTER_OR },
	[HODO_SIGN_XOR] = { 5, HODO_FILTER_XOR },
	[HODO_SIGN_AND] = { 6, HODO_FILTER_AND },
	[HODO_SIGN_EQ] = { 7, HODO_FILTER_EQ },
	[HODO_SIGN_NE] = { 7, HODO_FILTER_NE },
	[HODO_SIGN_MATCH] = { 7, HODO_FILTER_MATCH },
	[HODO_SIGN_UNLIKE] = { 7, HODO_FILTER_UNLIKE },
	[HODO_SIGN_LT] = { 8, HODO_FILTER_LT },
	[HODO_SIGN_LE] = { 8, HODO_FILTER_LE },
	[HODO_SIGN_GT] = { 8, HODO_FILTER_GT },
	[HODO_SIGN_GE] = { 8, HODO_FILTER_GE },
	[HODO_SIGN_SHL] = { 9, HODO_FILTER_SHL },
	[HODO_SIGN_SHR] = { 9, HODO_FILTER_SHR },
	[HODO_SIGN_ADD] = { 10, HODO_FILTER_ADD },
	[HODO_SIGN_SUB] = { 10, HODO_FILTER_SUB },
	[HODO_SIGN_MUL] = { 11, HODO_FILTER_MUL },
	[HODO_SIGN_DIV] = { 11, HODO_FILTER_DIV },
	[HODO_SIGN_MOD] = { 11, HODO_FILTER_MOD },
};
#define LOWEST 1
#define UNARY 12

static int advance(struct hodo_filter_parser *p)
{
	char words[96];
	struct hodo_bounded what = hodo_bounded_to(words, sizeof(words));

	if (hodo_filter_lex(p->lexer, p->token.start + p->token.len, &p->token, &what))
		return hodo_filter_fail(p, -EINVAL, p->token.start, words);
	return 0;
}

static bool at(const struct hodo_filter_parser *p, enum hodo_filter_sign op)
{
	return p->token.type == HODO_TOKEN_OP && p->token.op == op;
}

static int expect(struct hodo_filter_parser *p, enum hodo_filter_sign op, const char *wanted)
{
	return at(p, op) ? advance(p) : hodo_filter_unexpected(p, wanted);
}

/* ------------------------------------------------------------------ operands */

/* What became of an operand or an operator. */
enum { COMPLETE = 0, OPENED = 1 /* another expression is to be read first */ };

/* Begins an expression that is read before `then` of the one that is being read can be finished. */
static int open_level(struct hodo_filter_parser *p, enum then then, unsigned int precedence)
{
	struct hodo_filter_level *l;

	if (p->levels == HODO_FILTER_NESTING_MAX)
		return hodo_filter_fail(p, -E2BIG, p->token.start, "expression too deep");
	if (p->levels)
		p->level[p->levels - 1].then = (uint8_t)then;
	l = &p->level[p->levels++];
	l->precedence = (uint8_t)precedence;
	l->known = ANY;
	return OPENED;
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
static int parse_call(struct hodo_filter_parser *p, const struct hodo_filter_token *name)
{
	int rc;

	if (!is_word(name, "has") && !is_word(name, "len"))
		return hodo_filter_fail(p, -EINVAL, name->start,
					"no such function (there are has(NAME) and len(NAME))");
	rc = advance(p);
	if (rc)
		return rc;
	if (p->token.type != HODO_TOKEN_NAME)
		return hodo_filter_unexpected(p, "a field's name");
	rc = hodo_filter_emit_name(p, is_word(name, "has") ? HODO_FILTER_HAS : HODO_FILTER_LEN, &p->token, 0);
	if (!rc)
		rc = advance(p);
	return rc ? rc : expect(p, HODO_SIGN_CLOSE, "')'");
}

/* NAME[i]: i was read. */
static int finish_element(struct hodo_filter_parser *p, enum known index)
{
	struct hodo_filter_level *l = top(p);
	int rc = 0;

	if (index == TEXT || index == FLOATING)
		rc = hodo_filter_fail(p, -EINVAL, l->where, "'[' wants an integer");
	if (!rc)
		rc = expect(p, HODO_SIGN_CLOSE_INDEX, "']'");
	p->bare.op = 0;
	return rc ? rc : hodo_filter_emit_name(p, HODO_FILTER_ELEMENT, &l->token, 1);
}

/* A name, has(NAME), len(NAME), NAME[i], true or false. */
static int parse_name(struct hodo_filter_parser *p)
{
	struct hodo_filter_token name = p->token;
	struct hodo_filter_level *l = top(p);
	size_t at_code = p->len;
	int rc = advance(p);

	if (rc)
		return rc;
	l->known = INTEGER;
	if (is_word(&name, "true") || is_word(&name, "false"))
		return hodo_filter_emit_int(p, is_word(&name, "true"), false);
	if (is_word(&name, "NULL"))
		return hodo_filter_fail(p, -EINVAL, name.start, "nothing compares with NULL (use has(NAME))");
	if (at(p, HODO_SIGN_OPEN))
		return parse_call(p, &name);
	l->known = ANY;
	if (name.start[0] == '$')
		l->known = is_word(&name, hodo_filter_var_names[HODO_FILTER_COMM]) ? TEXT : INTEGER;
	if (at(p, HODO_SIGN_OPEN_INDEX)) {
		l->token = name;
		l->where = p->token.start;
		rc = advance(p);
		return rc ? rc : open_level(p, THEN_ELEMENT, LOWEST);
	}
	rc = hodo_filter_emit_name(p, HODO_FILTER_FIELD, &name, 0);
	if (name.start[0] != '$')
		p->bare = (struct hodo_filter_bare){ at_code, HODO_FILTER_FIELD };
	return rc;
}

static int parse_unary(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);
	uint64_t i;
	int rc;

	l->token = p->token;
	rc = advance(p);
	if (rc)
		return rc;
	/* -N as one constant: so the least integer can be written, and stays signed. */
	if (l->token.op == HODO_SIGN_SUB && p->token.type == HODO_TOKEN_INT &&
	    (!p->token.is_unsigned || p->token.i == 1ull << 63)) {
		l->known = INTEGER;
		i = -p->token.i;
		rc = advance(p);
		return rc ? rc : hodo_filter_emit_int(p, i, false);
	}
	return open_level(p, THEN_UNARY, UNARY);
}

/* Its operand was read. */
static int finish_unary(struct hodo_filter_parser *p, enum known known)
{
	static const uint8_t ops[HODO_SIGNS] = {
		[HODO_SIGN_NOT] = HODO_FILTER_NOT,
		[HODO_SIGN_INV] = HODO_FILTER_INV,
		[HODO_SIGN_SUB] = HODO_FILTER_NEG,
	};
	struct hodo_filter_level *l = top(p);
	enum hodo_filter_sign sign = l->token.op;

	if ((known == TEXT && sign != HODO_SIGN_NOT) || (known == FLOATING && sign == HODO_SIGN_INV)) {
		l->token.len = 1;
		return hodo_filter_fail_quoting(p, "", &l->token,
						sign == HODO_SIGN_INV ? "' wants an integer" : "' wants a number");
	}
	l->known = (uint8_t)(sign == HODO_SIGN_SUB ? known : INTEGER);
	p->bare.op = 0;
	return hodo_filter_emit(p, ops[sign], NULL, 0, 1);
}

static int parse_operand(struct hodo_filter_parser *p)
{
	struct hodo_filter_bare text = { p->len, HODO_FILTER_TEXT };
	struct hodo_filter_level *l = top(p);
	int rc = 0;

	p->bare.op = 0;
	switch (p->token.type) {
	case HODO_TOKEN_INT:
		l->known = INTEGER;
		rc = hodo_filter_emit_int(p, p->token.i, p->token.is_unsigned);
		return rc ? rc : advance(p);
	case HODO_TOKEN_FLOAT:
		l->known = FLOATING;
		rc = hodo_filter_emit(p, HODO_FILTER_F64, &p->token.d_bits, sizeof(p->token.d_bits), 0);
		return rc ? rc : advance(p);
	case HODO_TOKEN_TEXT:
		l->known = TEXT;
		rc = hodo_filter_emit_text(p);
		p->bare = text;
		return rc ? rc : advance(p);
	case HODO_TOKEN_NAME:
		return parse_name(p);
	case HODO_TOKEN_OP:
		if (p->token.op == HODO_SIGN_UNLIKE) { /* no operand before it: ! and ~ */
			p->token.op = HODO_SIGN_NOT;
			p->token.len = 1;
		}
		if (p->token.op == HODO_SIGN_NOT || p->token.op == HODO_SIGN_INV ||
		    p->token.op == HODO_SIGN_SUB)
			return parse_unary(p);
		if (p->token.op != HODO_SIGN_OPEN)
			break;
		rc = advance(p);
		return rc ? rc : open_level(p, THEN_GROUP, LOWEST);
	case HODO_TOKEN_END:
		break;
	}
	return hodo_filter_unexpected(p, "a value");
}

/* ----------------------------------------------------------------- operators */

/* Refuse what could give a value for no event; the kind of the result. */
static int check_kinds(struct hodo_filter_parser *p, const struct hodo_filter_token *sign, enum known a, enum known b,
		       enum known *known)
{
	const char *want = NULL;

	*known = INTEGER;
	switch (binaries[sign->op].op) {
	case HODO_FILTER_MATCH:
	case HODO_FILTER_UNLIKE:
		if ((a != ANY && a != TEXT) || (b != ANY && b != TEXT))
			want = "' wants texts";
		break;
	case HODO_FILTER_LT ... HODO_FILTER_NE:
		if (a != ANY && b != ANY && (a == TEXT) != (b == TEXT))
			want = "' wants two numbers or two texts";
		break;
	case HODO_FILTER_MOD:
	case HODO_FILTER_SHL ... HODO_FILTER_OR:
		if (a == TEXT || b == TEXT || a == FLOATING || b == FLOATING)
			want = "' wants integers";
		break;
	case HODO_FILTER_MUL:
	case HODO_FILTER_DIV:
	case HODO_FILTER_ADD:
	case HODO_FILTER_SUB:
		if (a == TEXT || b == TEXT)
			want = "' wants numbers";
		*known = a == FLOATING || b == FLOATING ? FLOATING : a == ANY || b == ANY ? ANY : INTEGER;
		break;
	}
	return want ? hodo_filter_fail_quoting(p, "", sign, want) : 0;
}

/* The operator that stands here, if it binds so close that it belongs to this level. */
static int parse_operator(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);
	unsigned int found;
	uint16_t skip = 0;
	int rc;

	if (p->token.type != HODO_TOKEN_OP)
		return COMPLETE;
	found = binaries[p->token.op].precedence;
	if (found == 0 || found < l->precedence)
		return COMPLETE;
	l->token = p->token;
	rc = advance(p);
	if (rc)
		return rc;
	switch (l->token.op) {
	case HODO_SIGN_QUESTION:
		return open_level(p, THEN_FIRST_CHOICE, LOWEST);
	case HODO_SIGN_LAND:
	case HODO_SIGN_LOR:
		/* The right side is skipped where the left decides. */
		rc = hodo_filter_emit(p, l->token.op == HODO_SIGN_LAND ? HODO_FILTER_LAND_SKIP : HODO_FILTER_LOR_SKIP,
				      &skip, sizeof(skip), 1);
		l->from = p->len;
		return rc ? rc : open_level(p, THEN_LOGIC, found + 1);
	default:
		l->left = p->bare;
		return open_level(p, THEN_BINARY, found + 1);
	}
}

/* && or ||: the right side was read. */
static int finish_logic(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);
	uint16_t skip;
	int rc = hodo_filter_emit(p, binaries[l->token.op].op, NULL, 0, 2);

	if (rc)
		return rc;
	skip = (uint16_t)(p->len - l->from);
	memcpy(p->code + l->from - sizeof(skip), &skip, sizeof(skip));
	l->known = INTEGER;
	p->bare.op = 0;
	return 0;
}

/* condition ? a : b, where a was read. */
static int finish_first_choice(struct hodo_filter_parser *p, enum known a)
{
	int rc = expect(p, HODO_SIGN_COLON, "':'");

	top(p)->first = (uint8_t)a;
	return rc ? rc : open_level(p, THEN_SECOND_CHOICE, LOWEST);
}

static int finish_second_choice(struct hodo_filter_parser *p, enum known b)
{
	struct hodo_filter_level *l = top(p);

	l->known = l->first == b ? (uint8_t)b : ANY;
	p->bare.op = 0;
	return hodo_filter_emit(p, HODO_FILTER_SELECT, NULL, 0, 3);
}

static int finish_binary(struct hodo_filter_parser *p, enum known right)
{
	struct hodo_filter_level *l = top(p);
	uint8_t op = binaries[l->token.op].op;
	enum known known = ANY;
	int rc = check_kinds(p, &l->token, l->known, right, &known);

	if (!rc && op >= HODO_FILTER_LT && op <= HODO_FILTER_NE)
		rc = hodo_filter_allow_labels(p, &l->left);
	l->known = (uint8_t)known;
	p->bare.op = 0;
	return rc ? rc : hodo_filter_emit(p, op, NULL, 0, 2);
}

/* An expression of kind known was read: what waited for it. */
static int finish(struct hodo_filter_parser *p, enum known known)
{
	switch ((enum then)top(p)->then) {
	case THEN_GROUP:
		top(p)->known = (uint8_t)known;
		return expect(p, HODO_SIGN_CLOSE, "')'");
	case THEN_ELEMENT:
		return finish_element(p, known);
	case THEN_UNARY:
		return finish_unary(p, known);
	case THEN_LOGIC:
		return finish_logic(p);
	case THEN_FIRST_CHOICE:
		return finish_first_choice(p, known);
	case THEN_SECOND_CHOICE:
		return finish_second_choice(p, known);
	case THEN_BINARY:
		break;
	}
	return finish_binary(p, known);
}

/* An operand, and all binary operators behind it. */
static int parse(struct hodo_filter_parser *p)
{
	int rc = open_level(p, THEN_GROUP, LOWEST);
	uint8_t known;

	while (rc == OPENED) {
		rc = parse_operand(p);
		while (rc == COMPLETE) {
			rc = parse_operator(p);
			if (rc != COMPLETE)
				break;
			known = top(p)->known;
			if (--p->levels == 0)
				return 0;
			rc = finish(p, known);
		}
	}
	return rc;
}

/* ------------------------------------------------------------------- program */

int hodo_filter_parse(struct hodo_filter_parser *p, const char *expr, uint8_t *code, size_t size, size_t *len,
		      char *error, size_t error_size)
{
	size_t n = 0;
	int rc;

	p->expr = expr;
	p->error = error;
	p->error_size = error_size;
	p->token = (struct hodo_filter_token){ .start = expr };
	p->bare = (struct hodo_filter_bare){ 0, 0 };
	p->levels = p->depth = p->names_n = p->labels = 0;
	p->len = 0;
	while (n <= HODO_FILTER_EXPR_MAX && expr[n])
		n++;
	if (n > HODO_FILTER_EXPR_MAX)
		return hodo_filter_fail(p, -E2BIG, expr + HODO_FILTER_EXPR_MAX, "expression too long");
	rc = advance(p);
	if (!rc)
		rc = parse(p);
	if (!rc && p->token.type != HODO_TOKEN_END)
		rc = hodo_filter_unexpected(p, "an operator");
	return rc ? rc : hodo_filter_assemble(p, code, size, len);
}
