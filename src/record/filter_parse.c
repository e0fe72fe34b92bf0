/* SPDX-License-Identifier: MIT */
/*
 * filter_parse.c - compiles a filter expression into a program of the filter
 * machine: a precedence climber that emits postfix as it reads.
 */
#include "filter_parse.h"

#include "../core/filter.h"
#include "filter_lex.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What is known of an expression's value before any event is seen. */
enum known { ANY, INTEGER, FLOATING, TEXT };

/* An operand that is nothing but a name or a text: it may be a label. */
struct bare {
	size_t at; /* in the code */
	uint8_t op; /* FIELD or TEXT; 0: it is neither */
};

struct parser {
	const char *expr;
	struct hodo_filter_token token; /* the next one */
	unsigned int nesting;
	unsigned int depth;        /* values on the machine's stack here */
	const char *names[HODO_FILTER_NAMES_MAX]; /* in expr */
	uint8_t names_len[HODO_FILTER_NAMES_MAX];
	unsigned int names_n;
	uint8_t code[HODO_FILTER_MAX];
	size_t len;
	struct bare bare; /* the operand that was parsed last */
	unsigned int labels;
	char *error;
	size_t error_size;
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

static int parse(struct parser *p, unsigned int precedence, enum known *known);

/* One line into the caller's buffer, with the column of where; rc is returned. */
static __attribute__((format(printf, 4, 5))) int fail(struct parser *p, int rc, const char *where,
						      const char *format, ...)
{
	char what[128], *c;
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	for (c = what; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?'; /* what is quoted from the expression may hold anything */
	if (p->error_size)
		snprintf(p->error, p->error_size, "%s at column %zu", what, (size_t)(where - p->expr) + 1);
	return rc;
}

static int advance(struct parser *p)
{
	char what[96];

	if (hodo_filter_lex(p->token.start + p->token.len, &p->token, what, sizeof(what)))
		return fail(p, -EINVAL, p->token.start, "%s", what);
	return 0;
}

static bool at(const struct parser *p, enum hodo_filter_sign op)
{
	return p->token.type == HODO_TOKEN_OP && p->token.op == op;
}

/* What stands here was not looked for; wanted was. */
static int unexpected(struct parser *p, const char *wanted)
{
	if (p->token.type == HODO_TOKEN_END)
		return fail(p, -EINVAL, p->token.start, "expected %s", wanted);
	return fail(p, -EINVAL, p->token.start, "expected %s before '%.*s'", wanted,
		    p->token.len < 30 ? (int)p->token.len : 30, p->token.start);
}

static int expect(struct parser *p, enum hodo_filter_sign op, const char *wanted)
{
	return at(p, op) ? advance(p) : unexpected(p, wanted);
}

/* ------------------------------------------------------------------ emitting */

/* An opcode and its operand; what it takes from the stack and leaves there. */
static int emit(struct parser *p, uint8_t op, const void *operand, size_t len, unsigned int pops)
{
	if (p->len + 1 + len > sizeof(p->code))
		return fail(p, -E2BIG, p->token.start, "expression too long");
	p->code[p->len++] = op;
	if (len)
		memcpy(p->code + p->len, operand, len);
	p->len += len;
	p->depth -= pops;
	if (++p->depth > HODO_FILTER_STACK_MAX)
		return fail(p, -E2BIG, p->token.start, "expression too deep");
	return 0;
}

static int emit_int(struct parser *p, uint64_t v, bool is_unsigned)
{
	int8_t small = (int8_t)v;

	if (is_unsigned)
		return emit(p, HODO_FILTER_U64, &v, sizeof(v), 0);
	if ((uint64_t)(int64_t)small == v)
		return emit(p, HODO_FILTER_I8, &small, sizeof(small), 0);
	return emit(p, HODO_FILTER_I64, &v, sizeof(v), 0);
}

static int emit_text(struct parser *p)
{
	char text[2 + HODO_FILTER_EXPR_MAX];
	uint16_t n = (uint16_t)hodo_filter_lex_text(&p->token, text + 2); /* not longer than the expression */

	memcpy(text, &n, sizeof(n));
	return emit(p, HODO_FILTER_TEXT, text, 2 + (size_t)n, 0);
}

static bool is_variable(const struct hodo_filter_token *name)
{
	unsigned int i;

	for (i = 0; i < HODO_FILTER_VARS; i++)
		if (strlen(hodo_filter_var_names[i]) == name->len &&
		    memcmp(hodo_filter_var_names[i], name->start, name->len) == 0)
			return true;
	return false;
}

/* An instruction whose operand is a name. */
static int emit_name(struct parser *p, uint8_t op, const struct hodo_filter_token *name, unsigned int pops)
{
	uint8_t n;

	if (name->start[0] == '$' && !is_variable(name))
		return fail(p, -EINVAL, name->start, "there is no '%.*s' (but $tid $pid $cpu $comm $duration)",
			    name->len < 30 ? (int)name->len : 30, name->start);
	if (name->len > HODO_NAME_MAX)
		return fail(p, -E2BIG, name->start, "name too long");
	for (n = 0; n < p->names_n; n++)
		if (p->names_len[n] == name->len && memcmp(p->names[n], name->start, name->len) == 0)
			break;
	if (n == p->names_n) {
		if (n == HODO_FILTER_NAMES_MAX)
			return fail(p, -E2BIG, name->start, "more than %u names", HODO_FILTER_NAMES_MAX);
		p->names[n] = name->start;
		p->names_len[n] = (uint8_t)name->len;
		p->names_n++;
	}
	return emit(p, op, &n, 1, pops);
}

/* ------------------------------------------------------------------ operands */

static bool is_word(const struct hodo_filter_token *t, const char *word)
{
	return t->type == HODO_TOKEN_NAME && t->len == strlen(word) && memcmp(t->start, word, t->len) == 0;
}

/* The rest of a function of one field, from the parenthesis on. */
static int parse_call(struct parser *p, const struct hodo_filter_token *name)
{
	int rc;

	if (!is_word(name, "has") && !is_word(name, "len"))
		return fail(p, -EINVAL, name->start, "no such function (there are has(NAME) and len(NAME))");
	rc = advance(p);
	if (rc)
		return rc;
	if (p->token.type != HODO_TOKEN_NAME)
		return unexpected(p, "a field's name");
	rc = emit_name(p, is_word(name, "has") ? HODO_FILTER_HAS : HODO_FILTER_LEN, &p->token, 0);
	if (!rc)
		rc = advance(p);
	return rc ? rc : expect(p, HODO_SIGN_CLOSE, "')'");
}

/* The rest of NAME[i], from the bracket on. */
static int parse_element(struct parser *p, const struct hodo_filter_token *name)
{
	const char *where = p->token.start;
	enum known index;
	int rc = advance(p);

	if (!rc)
		rc = parse(p, LOWEST, &index);
	if (!rc && (index == TEXT || index == FLOATING))
		rc = fail(p, -EINVAL, where, "'[' wants an integer");
	if (!rc)
		rc = expect(p, HODO_SIGN_CLOSE_INDEX, "']'");
	p->bare.op = 0;
	return rc ? rc : emit_name(p, HODO_FILTER_ELEMENT, name, 1);
}

/* A name, has(NAME), len(NAME), NAME[i], true or false. */
static int parse_name(struct parser *p, enum known *known)
{
	struct hodo_filter_token name = p->token;
	size_t at_code = p->len;
	int rc = advance(p);

	if (rc)
		return rc;
	*known = INTEGER;
	if (is_word(&name, "true") || is_word(&name, "false"))
		return emit_int(p, is_word(&name, "true"), false);
	if (is_word(&name, "NULL"))
		return fail(p, -EINVAL, name.start, "nothing compares with NULL (use has(NAME))");
	if (at(p, HODO_SIGN_OPEN))
		return parse_call(p, &name);
	*known = ANY;
	if (name.start[0] == '$')
		*known = is_word(&name, hodo_filter_var_names[HODO_FILTER_COMM]) ? TEXT : INTEGER;
	if (at(p, HODO_SIGN_OPEN_INDEX))
		return parse_element(p, &name);
	rc = emit_name(p, HODO_FILTER_FIELD, &name, 0);
	if (name.start[0] != '$')
		p->bare = (struct bare){ at_code, HODO_FILTER_FIELD };
	return rc;
}

static int parse_unary(struct parser *p, enum known *known)
{
	static const uint8_t ops[HODO_SIGNS] = {
		[HODO_SIGN_NOT] = HODO_FILTER_NOT,
		[HODO_SIGN_INV] = HODO_FILTER_INV,
		[HODO_SIGN_SUB] = HODO_FILTER_NEG,
	};
	const char *where = p->token.start;
	enum hodo_filter_sign sign = p->token.op;
	uint64_t i;
	int rc = advance(p);

	if (rc)
		return rc;
	/* -N as one constant: so the least integer can be written, and stays signed. */
	if (sign == HODO_SIGN_SUB && p->token.type == HODO_TOKEN_INT &&
	    (!p->token.is_unsigned || p->token.i == 1ull << 63)) {
		*known = INTEGER;
		i = -p->token.i;
		rc = advance(p);
		return rc ? rc : emit_int(p, i, false);
	}
	rc = parse(p, UNARY, known);
	if (rc)
		return rc;
	if ((*known == TEXT && sign != HODO_SIGN_NOT) || (*known == FLOATING && sign == HODO_SIGN_INV))
		return fail(p, -EINVAL, where, "'%c' wants %s", *where,
			    sign == HODO_SIGN_INV ? "an integer" : "a number");
	if (sign != HODO_SIGN_SUB)
		*known = INTEGER;
	p->bare.op = 0;
	return emit(p, ops[sign], NULL, 0, 1);
}

static int parse_operand(struct parser *p, enum known *known)
{
	struct bare text = { p->len, HODO_FILTER_TEXT };
	int rc = 0;

	p->bare.op = 0;
	switch (p->token.type) {
	case HODO_TOKEN_INT:
		*known = INTEGER;
		rc = emit_int(p, p->token.i, p->token.is_unsigned);
		return rc ? rc : advance(p);
	case HODO_TOKEN_FLOAT:
		*known = FLOATING;
		rc = emit(p, HODO_FILTER_F64, &p->token.d, sizeof(p->token.d), 0);
		return rc ? rc : advance(p);
	case HODO_TOKEN_TEXT:
		*known = TEXT;
		rc = emit_text(p);
		p->bare = text;
		return rc ? rc : advance(p);
	case HODO_TOKEN_NAME:
		return parse_name(p, known);
	case HODO_TOKEN_OP:
		if (p->token.op == HODO_SIGN_UNLIKE) { /* no operand before it: ! and ~ */
			p->token.op = HODO_SIGN_NOT;
			p->token.len = 1;
		}
		if (p->token.op == HODO_SIGN_NOT || p->token.op == HODO_SIGN_INV ||
		    p->token.op == HODO_SIGN_SUB)
			return parse_unary(p, known);
		if (p->token.op != HODO_SIGN_OPEN)
			break;
		rc = advance(p);
		if (!rc)
			rc = parse(p, LOWEST, known);
		return rc ? rc : expect(p, HODO_SIGN_CLOSE, "')'");
	case HODO_TOKEN_END:
		break;
	}
	return unexpected(p, "a value");
}

/* ----------------------------------------------------------------- operators */

/* Refuse what could give a value for no event; the kind of the result. */
static int check_kinds(struct parser *p, const struct hodo_filter_token *sign, enum known a, enum known b,
		       enum known *known)
{
	const char *want = NULL;

	*known = INTEGER;
	switch (binaries[sign->op].op) {
	case HODO_FILTER_MATCH:
	case HODO_FILTER_UNLIKE:
		if ((a != ANY && a != TEXT) || (b != ANY && b != TEXT))
			want = "texts";
		break;
	case HODO_FILTER_LT ... HODO_FILTER_NE:
		if (a != ANY && b != ANY && (a == TEXT) != (b == TEXT))
			want = "two numbers or two texts";
		break;
	case HODO_FILTER_MOD:
	case HODO_FILTER_SHL ... HODO_FILTER_OR:
		if (a == TEXT || b == TEXT || a == FLOATING || b == FLOATING)
			want = "integers";
		break;
	case HODO_FILTER_MUL:
	case HODO_FILTER_DIV:
	case HODO_FILTER_ADD:
	case HODO_FILTER_SUB:
		if (a == TEXT || b == TEXT)
			want = "numbers";
		*known = a == FLOATING || b == FLOATING ? FLOATING : a == ANY || b == ANY ? ANY : INTEGER;
		break;
	}
	if (want)
		return fail(p, -EINVAL, sign->start, "'%.*s' wants %s", (int)sign->len, sign->start, want);
	return 0;
}

/* Puts a label in place of the name or text at from (its instruction as it was), which is compared with field `of`. */
static int emit_label(struct parser *p, const uint8_t *from, uint8_t of)
{
	uint8_t operand[4 + HODO_FILTER_EXPR_MAX] = { (uint8_t)p->labels, of, from[1] };
	uint16_t len;

	if (p->labels++ == HODO_FILTER_LABELS_MAX)
		return fail(p, -E2BIG, p->token.start, "more than %u names and texts are compared with fields",
			    HODO_FILTER_LABELS_MAX);
	if (from[0] == HODO_FILTER_FIELD)
		return emit(p, HODO_FILTER_LABEL, operand, 3, 0);
	memcpy(&len, from + 1, sizeof(len));
	memcpy(operand + 2, from + 1, sizeof(len) + len);
	return emit(p, HODO_FILTER_LABEL_TEXT, operand, 4 + (size_t)len, 0);
}

/*
 * left was compared with what was parsed last: if both are bare, and one is a name, the other may be a label of
 * it. So both are made anew.
 */
static int allow_labels(struct parser *p, const struct bare *left)
{
	uint8_t old[2 * (4 + HODO_FILTER_EXPR_MAX)];
	const uint8_t *a = old, *b = old + (p->bare.at - left->at);
	bool a_name = left->op == HODO_FILTER_FIELD, b_name = p->bare.op == HODO_FILTER_FIELD;
	size_t len = p->len - left->at;
	int rc;

	if (!left->op || !p->bare.op || (!a_name && !b_name) || len > sizeof(old))
		return 0;
	memcpy(old, p->code + left->at, len);
	p->len = left->at;
	p->depth -= 2;
	rc = b_name ? emit_label(p, a, b[1]) : emit(p, a[0], a + 1, 1, 0);
	if (rc)
		return rc;
	return a_name ? emit_label(p, b, a[1]) : emit(p, b[0], b + 1, 1, 0);
}

/* && or ||: the right side is skipped where the left decides. */
static int parse_logic(struct parser *p, const struct hodo_filter_token *sign)
{
	uint8_t op = binaries[sign->op].op;
	uint16_t skip = 0;
	enum known ignored;
	size_t from;
	int rc;

	rc = emit(p, op == HODO_FILTER_LAND ? HODO_FILTER_LAND_SKIP : HODO_FILTER_LOR_SKIP, &skip,
		  sizeof(skip), 1);
	if (rc)
		return rc;
	from = p->len;
	rc = parse(p, binaries[sign->op].precedence + 1u, &ignored);
	if (!rc)
		rc = emit(p, op, NULL, 0, 2);
	if (rc)
		return rc;
	skip = (uint16_t)(p->len - from);
	memcpy(p->code + from - sizeof(skip), &skip, sizeof(skip));
	return 0;
}

/* The rest of condition ? a : b, behind the question mark. */
static int parse_select(struct parser *p, enum known *known)
{
	enum known a, b;
	int rc = parse(p, LOWEST, &a);

	if (!rc)
		rc = expect(p, HODO_SIGN_COLON, "':'");
	if (!rc)
		rc = parse(p, LOWEST, &b);
	if (rc)
		return rc;
	*known = a == b ? a : ANY;
	return emit(p, HODO_FILTER_SELECT, NULL, 0, 3);
}

/* An operand, and all binary operators behind it that bind at least so close. */
static int parse(struct parser *p, unsigned int precedence, enum known *known)
{
	struct bare left;
	enum known right;
	int rc;

	if (p->nesting == HODO_FILTER_NESTING_MAX)
		return fail(p, -E2BIG, p->token.start, "expression too deep");
	p->nesting++;
	rc = parse_operand(p, known);
	while (!rc && p->token.type == HODO_TOKEN_OP) {
		struct hodo_filter_token sign = p->token;
		unsigned int found = binaries[sign.op].precedence;

		if (found == 0 || found < precedence)
			break;
		rc = advance(p);
		if (rc)
			break;
		if (sign.op == HODO_SIGN_QUESTION) {
			rc = parse_select(p, known);
		} else if (sign.op == HODO_SIGN_LAND || sign.op == HODO_SIGN_LOR) {
			rc = parse_logic(p, &sign);
			*known = INTEGER;
		} else {
			left = p->bare;
			rc = parse(p, found + 1, &right);
			if (!rc)
				rc = check_kinds(p, &sign, *known, right, known);
			if (!rc && binaries[sign.op].op >= HODO_FILTER_LT && binaries[sign.op].op <= HODO_FILTER_NE)
				rc = allow_labels(p, &left);
			if (!rc)
				rc = emit(p, binaries[sign.op].op, NULL, 0, 2);
		}
		p->bare.op = 0;
	}
	p->nesting--;
	return rc;
}

/* ------------------------------------------------------------------- program */

/* Header, names, instructions. */
static int assemble(struct parser *p, uint8_t *code, size_t size, size_t *len)
{
	uint8_t header[HODO_FILTER_HEADER] = { 'H', 'F', HODO_FILTER_VERSION, (uint8_t)p->names_n };
	size_t total = sizeof(header) + p->len, n = 0;
	unsigned int i;

	for (i = 0; i < p->names_n; i++)
		total += 1 + (size_t)p->names_len[i];
	if (total > size || total > HODO_FILTER_MAX)
		return fail(p, -E2BIG, p->token.start, "expression too long");
	memcpy(code, header, sizeof(header));
	n = sizeof(header);
	for (i = 0; i < p->names_n; i++) {
		code[n++] = p->names_len[i];
		memcpy(code + n, p->names[i], p->names_len[i]);
		n += p->names_len[i];
	}
	memcpy(code + n, p->code, p->len);
	*len = total;
	return hodo_filter_verify(code, total);
}

int hodo_filter_compile(const char *expr, uint8_t *code, size_t size, size_t *len, char *error,
			size_t error_size)
{
	struct parser p = { .expr = expr, .error = error, .error_size = error_size };
	enum known known;
	int rc;

	p.token.start = expr;
	if (strnlen(expr, HODO_FILTER_EXPR_MAX + 1) > HODO_FILTER_EXPR_MAX)
		return fail(&p, -E2BIG, expr + HODO_FILTER_EXPR_MAX, "expression too long");
	rc = advance(&p);
	if (!rc)
		rc = parse(&p, LOWEST, &known);
	if (!rc && p.token.type != HODO_TOKEN_END)
		rc = unexpected(&p, "an operator");
	return rc ? rc : assemble(&p, code, size, len);
}
