/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* filter_emit.c - the output of the filter compiler: messages, and the program. */
#include <errno.h>

#include "filter_emit.h"

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

void hodo_filter_fail(struct hodo_filter_parser *p, int rc, const char *where, const char *words)
{
	fail_at(p, rc, where, words, NULL, NULL, "");
}

void hodo_filter_fail_quoting(struct hodo_filter_parser *p, const char *before, const struct hodo_filter_token *t,
			      const char *behind)
{
	fail_at(p, -EINVAL, t->start, before, "", t, behind);
}

void hodo_filter_unexpected(struct hodo_filter_parser *p, const char *wanted)
{
	bool at_end = p->token.type == HODO_TOKEN_END;

	fail_at(p, -EINVAL, p->token.start, wanted, " before ", at_end ? NULL : &p->token, at_end ? "" : "'");
}

void hodo_filter_emit(struct hodo_filter_parser *p, uint8_t op, const void *operand, size_t len, unsigned int pops)
{
	if (p->len + 1 + len > sizeof(p->code))
		hodo_filter_fail(p, -E2BIG, p->token.start, "expression too long");
	if (p->rc)
		return;
	p->code[p->len++] = op;
	if (len)
		memcpy(p->code + p->len, operand, len);
	p->len += len;
	p->depth -= pops;
	if (++p->depth > HODO_FILTER_STACK_MAX)
		hodo_filter_fail(p, -E2BIG, p->token.start, "expression too deep");
}

void hodo_filter_emit_int(struct hodo_filter_parser *p, uint64_t v, bool is_unsigned)
{
	int8_t small = (int8_t)v;

	if (!is_unsigned && (uint64_t)(int64_t)small == v)
		hodo_filter_emit(p, HODO_FILTER_I8, &small, sizeof(small), 0);
	else
		hodo_filter_emit(p, is_unsigned ? HODO_FILTER_U64 : HODO_FILTER_I64, &v, sizeof(v), 0);
}

void hodo_filter_emit_text(struct hodo_filter_parser *p)
{
	char *text = (char *)p->operand;
	uint16_t n = (uint16_t)hodo_filter_lex_text(&p->token, text + 2); /* not longer than the expression */

	memcpy(text, &n, sizeof(n));
	hodo_filter_emit(p, HODO_FILTER_TEXT, text, 2 + (size_t)n, 0);
}

static bool is_variable(const struct hodo_filter_token *name)
{
	unsigned int i;

	for (i = 0; i < HODO_FILTER_VARS; i++)
		if (hodo_bounded_is(name->start, name->len, hodo_filter_var_names[i]))
			return true;
	return false;
}

void hodo_filter_emit_name(struct hodo_filter_parser *p, uint8_t op, const struct hodo_filter_token *name,
			   unsigned int pops)
{
	uint8_t n;

	if (name->start[0] == '$' && !is_variable(name))
		hodo_filter_fail_quoting(p, "there is no ", name, "' (but $tid $pid $cpu $comm $duration $off_cpu)");
	if (name->len > HODO_NAME_MAX)
		hodo_filter_fail(p, -E2BIG, name->start, "name too long");
	for (n = 0; n < p->names_n; n++)
		if (p->names_len[n] == name->len && memcmp(p->names[n], name->start, name->len) == 0)
			break;
	if (n == HODO_FILTER_NAMES_MAX) {
		hodo_filter_fail(p, -E2BIG, name->start, "more than 32 names");
	} else if (n == p->names_n) {
		p->names[n] = name->start;
		p->names_len[n] = (uint8_t)name->len;
		p->names_n++;
	}
	hodo_filter_emit(p, op, &n, 1, pops);
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
		hodo_filter_fail(p, -E2BIG, p->token.start, "more than 32 names and strings are compared "
				 "with fields");
	if (from[0] == HODO_FILTER_FIELD) {
		hodo_filter_emit(p, HODO_FILTER_LABEL, operand, 3, 0);
		return;
	}
	memcpy(&len, from + 1, sizeof(len));
	memcpy(operand + 2, from + 1, sizeof(len) + len);
	hodo_filter_emit(p, HODO_FILTER_LABEL_TEXT, operand, 4 + (size_t)len, 0);
}

void hodo_filter_allow_labels(struct hodo_filter_parser *p, const struct hodo_filter_bare *left)
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
		hodo_filter_emit(p, a[0], a + 1, 1, 0);
	if (a_name)
		emit_label(p, b, a[1]);
	else
		hodo_filter_emit(p, b[0], b + 1, 1, 0);
}

void hodo_filter_assemble(struct hodo_filter_parser *p, uint8_t *code, size_t size, size_t *len)
{
	uint8_t header[HODO_FILTER_HEADER] = { 'H', 'F', HODO_FILTER_VERSION, (uint8_t)p->names_n };
	size_t total = sizeof(header) + p->len, n = 0;
	unsigned int i;

	for (i = 0; i < p->names_n; i++)
		total += 1 + (size_t)p->names_len[i];
	if (total > size || total > HODO_FILTER_MAX)
		hodo_filter_fail(p, -E2BIG, p->token.start, "expression too long");
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
