/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_parse.c - compiles a filter expression into a program of the filter
 * machine: a precedence climber that emits postfix as it reads. Whatever is open (a parenthesis, an operator
 * whose right side is being read) is kept in the caller's memory, not on the stack, which is small in the
 * kernel. The first error stays in p->rc; nothing is read or emitted after it.
 */
#include "filter_parse.h"

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

/* ------------------------------------------------- output: messages, and the program */

_Static_assert(HODO_FILTER_NAMES_MAX == 32 && HODO_FILTER_LABELS_MAX == 32, "messages have these numbers");

/* The message: words; lead and the token in quotes, if there is one; behind; and the column of where. */
static void fail_at(struct hodo_filter_parser *p, int rc, const char *where, const char *words, const char *lead,
		    const struct hodo_filter_token *quoted, const char *behind)
{
	struct hodo_bounded line;
	size_t i;

	if (p->rc)
		return;
	p->rc = rc;
	line = hodo_bounded_to(p->error, p->error_size);
	hodo_bounded_put(&line, words);
	if (quoted) {
		hodo_bounded_put(&line, lead);
		hodo_bounded_put(&line, "'");
		hodo_bounded_bytes(&line, quoted->start, quoted->len < 30 ? quoted->len : 30);
	}
	hodo_bounded_put(&line, behind);
	hodo_bounded_put(&line, " at column ");
	hodo_bounded_number(&line, (uint64_t)(where - p->expr) + 1);
	for (i = 0; i < line.len; i++)
		if ((unsigned char)line.at[i] < ' ' || line.at[i] == 0x7f)
			line.at[i] = '?'; /* a quote from the expression may contain anything */
}

static void fail(struct hodo_filter_parser *p, int rc, const char *where, const char *words)
{
	fail_at(p, rc, where, words, NULL, NULL, "");
}

static void fail_quoting(struct hodo_filter_parser *p, const char *before, const struct hodo_filter_token *t,
			 const char *behind)
{
	fail_at(p, -EINVAL, t->start, before, "", t, behind);
}

/* The token is not what the grammar wants; wanted says what is ("expected …"). */
static void unexpected(struct hodo_filter_parser *p, const char *wanted)
{
	bool at_end = p->token.type == HODO_TOKEN_END;

	fail_at(p, -EINVAL, p->token.start, wanted, " before ", at_end ? NULL : &p->token, at_end ? "" : "'");
}

/* Emits an opcode and its operand, and tracks what it takes from the stack and leaves there. */
static void emit(struct hodo_filter_parser *p, uint8_t op, const void *operand, size_t len, unsigned int pops)
{
	if (p->len + 1 + len > sizeof(p->code))
		fail(p, -E2BIG, p->token.start, "expression too long");
	if (p->rc)
		return;
	p->code[p->len++] = op;
	if (len)
		memcpy(p->code + p->len, operand, len);
	p->len += len;
	p->depth -= pops;
	if (++p->depth > HODO_FILTER_STACK_MAX)
		fail(p, -E2BIG, p->token.start, "expression too deep");
}

static void emit_int(struct hodo_filter_parser *p, uint64_t v, bool is_unsigned)
{
	int8_t small = (int8_t)v;

	if (!is_unsigned && (uint64_t)(int64_t)small == v)
		emit(p, HODO_FILTER_I8, &small, sizeof(small), 0);
	else
		emit(p, is_unsigned ? HODO_FILTER_U64 : HODO_FILTER_I64, &v, sizeof(v), 0);
}

static void emit_text(struct hodo_filter_parser *p)
{
	char *text = (char *)p->operand;
	uint16_t n = (uint16_t)hodo_filter_lex_text(&p->token, text + 2); /* not longer than the expression */

	memcpy(text, &n, sizeof(n));
	emit(p, HODO_FILTER_TEXT, text, 2 + (size_t)n, 0);
}

static bool is_variable(const struct hodo_filter_token *name)
{
	unsigned int i;

	for (i = 0; i < HODO_FILTER_VARS; i++)
		if (hodo_bounded_is(name->start, name->len, hodo_filter_var_names[i]))
			return true;
	return false;
}

/* An instruction whose operand is a name. */
static void emit_name(struct hodo_filter_parser *p, uint8_t op, const struct hodo_filter_token *name,
		      unsigned int pops)
{
	uint8_t n;

	if (name->start[0] == '$' && !is_variable(name))
		fail_quoting(p, "there is no ", name, "' (but $tid $pid $cpu $comm $duration $off_cpu)");
	if (name->len > HODO_NAME_MAX)
		fail(p, -E2BIG, name->start, "name too long");
	for (n = 0; n < p->names_n; n++)
		if (p->names_len[n] == name->len && memcmp(p->names[n], name->start, name->len) == 0)
			break;
	if (n == HODO_FILTER_NAMES_MAX) {
		fail(p, -E2BIG, name->start, "more than 32 names");
	} else if (n == p->names_n) {
		p->names[n] = name->start;
		p->names_len[n] = (uint8_t)name->len;
		p->names_n++;
	}
	emit(p, op, &n, 1, pops);
}

/* Replaces the name or text at from (its old instruction), which is compared with field `of`, by a label. */
static void emit_label(struct hodo_filter_parser *p, const uint8_t *from, uint8_t of)
{
	uint8_t *operand = p->operand;
	uint16_t len;

	operand[0] = (uint8_t)p->labels;
	operand[1] = of;
	operand[2] = from[1];
	if (p->labels++ == HODO_FILTER_LABELS_MAX)
		fail(p, -E2BIG, p->token.start, "more than 32 names and strings are compared with fields");
	if (from[0] == HODO_FILTER_FIELD) {
		emit(p, HODO_FILTER_LABEL, operand, 3, 0);
		return;
	}
	memcpy(&len, from + 1, sizeof(len));
	memcpy(operand + 2, from + 1, sizeof(len) + len);
	emit(p, HODO_FILTER_LABEL_TEXT, operand, 4 + (size_t)len, 0);
}

/*
 * left was compared with what was parsed last. If both are bare and one is a name, the other may be one of
 * its labels: both are emitted again.
 */
static void allow_labels(struct hodo_filter_parser *p, const struct hodo_filter_bare *left)
{
	const uint8_t *a = p->old, *b = p->old + (p->bare.at - left->at);
	bool a_name = left->op == HODO_FILTER_FIELD, b_name = p->bare.op == HODO_FILTER_FIELD;
	size_t len = p->len - left->at;

	if (!left->op || !p->bare.op || (!a_name && !b_name) || len > sizeof(p->old))
		return;
	memcpy(p->old, p->code + left->at, len);
	p->len = left->at;
	p->depth -= 2;
	if (b_name)
		emit_label(p, a, b[1]);
	else
		emit(p, a[0], a + 1, 1, 0);
	if (a_name)
		emit_label(p, b, a[1]);
	else
		emit(p, b[0], b + 1, 1, 0);
}

/* Header, names, instructions. */
static void assemble(struct hodo_filter_parser *p, uint8_t *code, size_t size, size_t *len)
{
	uint8_t header[HODO_FILTER_HEADER] = { 'H', 'F', HODO_FILTER_VERSION, (uint8_t)p->names_n };
	size_t total = sizeof(header) + p->len, n = 0;
	unsigned int i;

	for (i = 0; i < p->names_n; i++)
		total += 1 + (size_t)p->names_len[i];
	if (total > size || total > HODO_FILTER_MAX)
		fail(p, -E2BIG, p->token.start, "expression too long");
	if (p->rc)
		return;
	memcpy(code, header, sizeof(header));
	n = sizeof(header);
	for (i = 0; i < p->names_n; i++) {
		code[n++] = p->names_len[i];
		memcpy(code + n, p->names[i], p->names_len[i]);
		n += p->names_len[i];
	}
	memcpy(code + n, p->code, p->len);
	*len = total;
	p->rc = hodo_filter_verify(code, total);
}

/* -------------------------------------------------------------------- tokens */

static void advance(struct hodo_filter_parser *p)
{
	char words[96];
	struct hodo_bounded what = hodo_bounded_to(words, sizeof(words));

	if (!p->rc && hodo_filter_lex(p->lexer, p->token.start + p->token.len, &p->token, &what))
		fail(p, -EINVAL, p->token.start, words);
}

static bool at(const struct hodo_filter_parser *p, char sign)
{
	return p->token.type == HODO_TOKEN_OP && p->token.sign->text[0] == sign && !p->token.sign->text[1];
}

static void expect(struct hodo_filter_parser *p, char sign, const char *wanted)
{
	if (!at(p, sign))
		unexpected(p, wanted);
	advance(p);
}

/* ------------------------------------------------------------------ operands */

/* Begins an inner expression; when it has been read, the outer one continues with `then`. */
static void open_level(struct hodo_filter_parser *p, enum then then, unsigned int precedence)
{
	if (p->levels == HODO_FILTER_NESTING_MAX) {
		fail(p, -E2BIG, p->token.start, "expression too deep");
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
		fail(p, -EINVAL, name->start, "no such function (the functions are has(NAME) and len(NAME))");
	advance(p);
	if (p->token.type != HODO_TOKEN_NAME)
		unexpected(p, "expected a field's name");
	emit_name(p, is_word(name, "has") ? HODO_FILTER_HAS : HODO_FILTER_LEN, &p->token, 0);
	advance(p);
	expect(p, ')', "expected ')'");
}

/* NAME[i]: i was read. */
static void finish_element(struct hodo_filter_parser *p, enum known index)
{
	struct hodo_filter_level *l = top(p);

	if (index == TEXT || index == FLOATING)
		fail(p, -EINVAL, l->where, "'[' needs an integer");
	expect(p, ']', "expected ']'");
	emit_name(p, HODO_FILTER_ELEMENT, &l->token, 1);
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
		emit_int(p, is_word(&name, "true"), false);
	} else if (is_word(&name, "NULL")) {
		fail(p, -EINVAL, name.start, "nothing can be compared with NULL (use has(NAME))");
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
		emit_name(p, HODO_FILTER_FIELD, &name, 0);
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
		emit_int(p, -p->token.i, false);
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
		fail_quoting(p, "", &l->token,
			     op == HODO_FILTER_INV ? "' needs an integer" : "' needs a number");
	}
	l->known = (uint8_t)(op == HODO_FILTER_NEG ? known : INTEGER);
	emit(p, op, NULL, 0, 1);
}

static void parse_operand(struct hodo_filter_parser *p)
{
	struct hodo_filter_level *l = top(p);

	p->opened = false;
	p->bare = (struct hodo_filter_bare){ p->len, 0 };
	switch (p->token.type) {
	case HODO_TOKEN_INT:
		l->known = INTEGER;
		emit_int(p, p->token.i, p->token.is_unsigned);
		break;
	case HODO_TOKEN_FLOAT:
		l->known = FLOATING;
		emit(p, HODO_FILTER_F64, &p->token.d_bits, sizeof(p->token.d_bits), 0);
		break;
	case HODO_TOKEN_TEXT:
		l->known = TEXT;
		p->bare.op = HODO_FILTER_TEXT;
		emit_text(p);
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
			unexpected(p, "expected a value");
		advance(p);
		open_level(p, THEN_GROUP, LOWEST);
		return;
	case HODO_TOKEN_END:
		unexpected(p, "expected a value");
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
		fail_quoting(p, "", sign, want);
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
		emit(p, op, &skip, sizeof(skip), 1);
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

	emit(p, l->token.sign->binary, NULL, 0, 2);
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
		allow_labels(p, &l->left);
	emit(p, op, NULL, 0, 2);
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
		emit(p, HODO_FILTER_SELECT, NULL, 0, 3);
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
		fail(p, -E2BIG, expr + HODO_FILTER_EXPR_MAX, "expression too long");
	advance(p);
	parse(p);
	if (p->token.type != HODO_TOKEN_END)
		unexpected(p, "expected an operator");
	assemble(p, code, size, len);
	return p->rc;
}
