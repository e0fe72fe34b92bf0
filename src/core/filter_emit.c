/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_emit.c - what the compiler of filter expressions writes: messages, and the program. */
#include <errno.h>

#include "filter_emit.h"

/* One line into the caller's buffer, with the column of where; rc is returned. what: put together by start(). */
static int fail_with(struct hodo_filter_parser *p, int rc, const char *where, struct hodo_bounded *what)
{
	struct hodo_bounded line = hodo_bounded_to(p->error, p->error_size);
	size_t i;

	for (i = 0; i < what->len; i++)
		if ((unsigned char)what->at[i] < ' ' || what->at[i] == 0x7f)
			what->at[i] = '?'; /* what is quoted from the expression may hold anything */
	hodo_bounded_bytes(&line, what->at, what->len);
	hodo_bounded_put(&line, " at column ");
	hodo_bounded_number(&line, (uint64_t)(where - p->expr) + 1);
	return rc;
}

static struct hodo_bounded start(struct hodo_filter_parser *p, const char *words)
{
	struct hodo_bounded what = hodo_bounded_to(p->what, sizeof(p->what));

	hodo_bounded_put(&what, words);
	return what;
}

int hodo_filter_fail(struct hodo_filter_parser *p, int rc, const char *where, const char *words)
{
	struct hodo_bounded what = start(p, words);

	return fail_with(p, rc, where, &what);
}

/* before, what the token is, behind. */
int hodo_filter_fail_quoting(struct hodo_filter_parser *p, const char *before, const struct hodo_filter_token *t,
			     const char *behind)
{
	struct hodo_bounded what = start(p, before);

	hodo_bounded_put(&what, "'");
	hodo_bounded_bytes(&what, t->start, t->len < 30 ? t->len : 30);
	hodo_bounded_put(&what, behind);
	return fail_with(p, -EINVAL, t->start, &what);
}

/* "more than N what" */
static int fail_many(struct hodo_filter_parser *p, const char *where, unsigned int n, const char *of)
{
	struct hodo_bounded what = start(p, "more than ");

	hodo_bounded_number(&what, n);
	hodo_bounded_put(&what, of);
	return fail_with(p, -E2BIG, where, &what);
}

/* What stands here was not looked for; wanted was. */
int hodo_filter_unexpected(struct hodo_filter_parser *p, const char *wanted)
{
	struct hodo_bounded what = start(p, "expected ");

	hodo_bounded_put(&what, wanted);
	if (p->token.type != HODO_TOKEN_END) {
		hodo_bounded_put(&what, " before '");
		hodo_bounded_bytes(&what, p->token.start, p->token.len < 30 ? p->token.len : 30);
		hodo_bounded_put(&what, "'");
	}
	return fail_with(p, -EINVAL, p->token.start, &what);
}

/* An opcode and its operand; what it takes from the stack and leaves there. */
int hodo_filter_emit(struct hodo_filter_parser *p, uint8_t op, const void *operand, size_t len, unsigned int pops)
{
	if (p->len + 1 + len > sizeof(p->code))
		return hodo_filter_fail(p, -E2BIG, p->token.start, "expression too long");
	p->code[p->len++] = op;
	if (len)
		memcpy(p->code + p->len, operand, len);
	p->len += len;
	p->depth -= pops;
	if (++p->depth > HODO_FILTER_STACK_MAX)
		return hodo_filter_fail(p, -E2BIG, p->token.start, "expression too deep");
	return 0;
}

int hodo_filter_emit_int(struct hodo_filter_parser *p, uint64_t v, bool is_unsigned)
{
	int8_t small = (int8_t)v;

	if (is_unsigned)
		return hodo_filter_emit(p, HODO_FILTER_U64, &v, sizeof(v), 0);
	if ((uint64_t)(int64_t)small == v)
		return hodo_filter_emit(p, HODO_FILTER_I8, &small, sizeof(small), 0);
	return hodo_filter_emit(p, HODO_FILTER_I64, &v, sizeof(v), 0);
}

int hodo_filter_emit_text(struct hodo_filter_parser *p)
{
	char *text = (char *)p->operand;
	uint16_t n = (uint16_t)hodo_filter_lex_text(&p->token, text + 2); /* not longer than the expression */

	memcpy(text, &n, sizeof(n));
	return hodo_filter_emit(p, HODO_FILTER_TEXT, text, 2 + (size_t)n, 0);
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
int hodo_filter_emit_name(struct hodo_filter_parser *p, uint8_t op, const struct hodo_filter_token *name,
			  unsigned int pops)
{
	uint8_t n;

	if (name->start[0] == '$' && !is_variable(name))
		return hodo_filter_fail_quoting(p, "there is no ", name, "' (but $tid $pid $cpu $comm $duration)");
	if (name->len > HODO_NAME_MAX)
		return hodo_filter_fail(p, -E2BIG, name->start, "name too long");
	for (n = 0; n < p->names_n; n++)
		if (p->names_len[n] == name->len && memcmp(p->names[n], name->start, name->len) == 0)
			break;
	if (n == p->names_n) {
		if (n == HODO_FILTER_NAMES_MAX)
			return fail_many(p, name->start, HODO_FILTER_NAMES_MAX, " names");
		p->names[n] = name->start;
		p->names_len[n] = (uint8_t)name->len;
		p->names_n++;
	}
	return hodo_filter_emit(p, op, &n, 1, pops);
}

/* Puts a label in place of the name or text at from (its instruction as it was), which is compared with field `of`. */
static int emit_label(struct hodo_filter_parser *p, const uint8_t *from, uint8_t of)
{
	uint8_t *operand = p->operand;
	uint16_t len;

	operand[0] = (uint8_t)p->labels;
	operand[1] = of;
	operand[2] = from[1];
	if (p->labels++ == HODO_FILTER_LABELS_MAX)
		return fail_many(p, p->token.start, HODO_FILTER_LABELS_MAX,
				 " names and texts are compared with fields");
	if (from[0] == HODO_FILTER_FIELD)
		return hodo_filter_emit(p, HODO_FILTER_LABEL, operand, 3, 0);
	memcpy(&len, from + 1, sizeof(len));
	memcpy(operand + 2, from + 1, sizeof(len) + len);
	return hodo_filter_emit(p, HODO_FILTER_LABEL_TEXT, operand, 4 + (size_t)len, 0);
}

/*
 * left was compared with what was parsed last: if both are bare, and one is a name, the other may be a label of
 * it. So both are made anew.
 */
int hodo_filter_allow_labels(struct hodo_filter_parser *p, const struct hodo_filter_bare *left)
{
	const uint8_t *a = p->old, *b = p->old + (p->bare.at - left->at);
	bool a_name = left->op == HODO_FILTER_FIELD, b_name = p->bare.op == HODO_FILTER_FIELD;
	size_t len = p->len - left->at;
	int rc;

	if (!left->op || !p->bare.op || (!a_name && !b_name) || len > sizeof(p->old))
		return 0;
	memcpy(p->old, p->code + left->at, len);
	p->len = left->at;
	p->depth -= 2;
	rc = b_name ? emit_label(p, a, b[1]) : hodo_filter_emit(p, a[0], a + 1, 1, 0);
	if (rc)
		return rc;
	return a_name ? emit_label(p, b, a[1]) : hodo_filter_emit(p, b[0], b + 1, 1, 0);
}

/* Header, names, instructions. */
int hodo_filter_assemble(struct hodo_filter_parser *p, uint8_t *code, size_t size, size_t *len)
{
	uint8_t header[HODO_FILTER_HEADER] = { 'H', 'F', HODO_FILTER_VERSION, (uint8_t)p->names_n };
	size_t total = sizeof(header) + p->len, n = 0;
	unsigned int i;

	for (i = 0; i < p->names_n; i++)
		total += 1 + (size_t)p->names_len[i];
	if (total > size || total > HODO_FILTER_MAX)
		return hodo_filter_fail(p, -E2BIG, p->token.start, "expression too long");
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
