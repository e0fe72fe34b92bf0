/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* brief_name.c - see brief_name.h: one pass; the output never overtakes the input. */
#include "brief_name.h"

#include "bounded_text.h"

#include <stdbool.h>

#define DEPTH_MAX 64u

/* An open bracket; [0]: the whole name. */
struct level {
	char kind;      /* '<', '(', '{', '[' */
	bool of_std;    /* '<': of a template of std */
	bool in_std;    /* the name being written is in std */
	bool usual;     /* '<': the argument begins like one that is left out */
	size_t name;    /* where that name's last component begins in the output; */
	size_t args;    /* '<': where the arguments begin there, … */
	size_t kept;    /* … and end without those that are left out */
	unsigned narg, closed; /* arguments before this one; brackets that the input closed */
};

struct name {
	char *text;
	size_t len, in, out;
	struct level level[DEPTH_MAX];
	unsigned depth;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool starts(const struct name *n, size_t at, const char *word)
{
	size_t i = 0;

	while (word[i] && at + i < n->len && n->text[at + i] == word[i])
		i++;
	return !word[i];
}

static void put(struct name *n, size_t count)
{
	while (count-- > 0 && n->in < n->len)
		n->text[n->out++] = n->text[n->in++];
}

static bool written(const struct name *n, size_t from, size_t to, const char *word)
{
	size_t i = 0;

	while (word[i] && from + i < to && n->text[from + i] == word[i])
		i++;
	return !word[i] && from + i == to;
}

/* ------------------------------------------------------------------------- arguments */

/* An argument begins. */
static void argument(struct name *n, struct level *l)
{
	static const char *const usual[] = { "allocator<", "char_traits<", "less<", "equal_to<", "hash<",
					     "default_delete<" };
	size_t at = n->in;

	while (at < n->len && n->text[at] == ' ')
		at++;
	l->closed = 0;
	l->usual = false;
	if (!l->of_std || l->narg == 0 || !starts(n, at, "std::"))
		return;
	at += 5 + (starts(n, at + 5, "__1::") ? 5 : 0);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		l->usual = l->usual || starts(n, at, usual[i]);
}

/* … and ends. It is kept unless it is only a usual one. */
static void argument_ends(struct name *n, struct level *l)
{
	size_t end = n->out;

	while (end > l->args && n->text[end - 1] == ' ') /* "> >" */
		end--;
	if (!(l->usual && l->closed == 1 && n->text[end - 1] == '>'))
		l->kept = end;
}

/* "basic_string<char" becomes "string". False: it is not one of these. */
static bool spell(struct name *n, const struct level *l, size_t name)
{
	static const char *const types[][2] = { { "char", "" }, { "wchar_t", "w" }, { "char8_t", "u8" },
						{ "char16_t", "u16" }, { "char32_t", "u32" } };
	static const char basic[] = "basic_";
	size_t from = name + sizeof(basic) - 1, end = l->args - 1, to = name;

	if (!l->of_std || from >= end || !written(n, name, from, basic))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!written(n, l->args, n->out, types[i][0]))
			continue;
		for (const char *w = types[i][1]; *w; w++)
			n->text[to++] = *w;
		while (from < end)
			n->text[to++] = n->text[from++];
		n->out = to;
		return true;
	}
	return false;
}

/* -------------------------------------------------------------------------- brackets */

static bool open(struct name *n)
{
	struct level *l = &n->level[n->depth], *inner = l + 1;

	if (n->depth + 1 == DEPTH_MAX)
		return false;
	*inner = (struct level){ .kind = n->text[n->in], .of_std = l->in_std };
	put(n, 1);
	n->depth++;
	inner->name = inner->args = inner->kept = n->out;
	argument(n, inner);
	return true;
}

static bool close(struct name *n)
{
	static const char pairs[] = "<>(){}[]";
	struct level *l = &n->level[n->depth], *outer = l - 1;
	char bracket = n->text[n->in];
	unsigned i = 0;

	while (pairs[i] != bracket)
		i += 1;
	if (n->depth == 0 || l->kind != pairs[i - 1])
		return false;
	n->depth--;
	outer->closed++;
	if (bracket != '>') {
		put(n, 1);
		return true;
	}
	argument_ends(n, l);
	n->out = l->kept;
	if (spell(n, l, outer->name))
		n->in++;
	else
		put(n, 1);
	return true;
}

/* ----------------------------------------------------------------------------- words */

/* The length of an operator's name that looks like brackets, as in "operator<<", but without template
 * arguments. */
static size_t operator_at(const struct name *n)
{
	static const char *const symbols[] = { "<<=", "<=>", ">>=", "->*", "<<", "<=", ">>", ">=", "->", "()", "[]",
					       "<", ">" };

	if (!starts(n, n->in, "operator"))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (starts(n, n->in + 8, symbols[i]))
			return 8 + hodo_bounded_len(symbols[i]);
	return 0;
}

/* A name's next component, or its first. */
static void word(struct name *n)
{
	static const char *const inner[] = { "__cxx11::", "__1::", "__cxx1998::" };
	struct level *l = &n->level[n->depth];
	bool goes_on = n->in > 1 && n->out > 1 && n->text[n->out - 1] == ':';
	size_t count = operator_at(n);

	if (!goes_on) {
		l->in_std = starts(n, n->in, "std::");
		if (l->in_std && n->depth > 0)
			n->in += 5;
	}
	for (size_t i = 0; l->in_std && i < sizeof(inner) / sizeof(inner[0]); i++)
		if (starts(n, n->in, inner[i]))
			n->in += hodo_bounded_len(inner[i]);
	l->name = n->out;
	if (count) {
		put(n, count);
		return;
	}
	while (n->in < n->len && is_word(n->text[n->in]))
		put(n, 1);
}

static void comma(struct name *n)
{
	struct level *l = &n->level[n->depth];

	argument_ends(n, l);
	put(n, 1);
	l->narg++;
	argument(n, l);
}

/* False: the name is not understood. */
static bool step(struct name *n)
{
	char c = n->text[n->in];

	if (is_word(c)) {
		word(n);
	} else if (c == '[' && starts(n, n->in, "[abi:")) {
		while (n->in < n->len && n->text[n->in] != ']')
			n->in++;
		n->in++;
	} else if (c == '-' && starts(n, n->in, "->")) {
		put(n, 2);
	} else if (c == '<' || c == '(' || c == '{' || c == '[') {
		return open(n);
	} else if (c == '>' && n->level[n->depth].kind == '(') {
		put(n, 1); /* greater than */
	} else if (c == '>' || c == ')' || c == '}' || c == ']') {
		return close(n);
	} else if (c == ',' && n->level[n->depth].kind == '<') {
		comma(n);
	} else {
		put(n, 1);
	}
	return true;
}

size_t hodo_brief_name(const char *text, size_t len, char *out)
{
	struct name n = { .text = out, .len = len };

	for (size_t i = 0; i < len; i++)
		out[i] = text[i];
	while (n.in < len)
		if (!step(&n))
			break;
	if (n.in >= len && n.depth == 0)
		return n.out;
	for (size_t i = 0; i < len; i++)
		out[i] = text[i];
	return len;
}

/* ------------------------------------------------------------------- without arguments */

/* Length of "operator<<" and the like at i; 0: none. */
static size_t arrows_at(const struct name *n, size_t i)
{
	size_t end = i + sizeof("operator") - 1;

	if ((i > 0 && n->text[i - 1] != ':') || !starts(n, i, "operator"))
		return 0;
	while (end < n->len &&
	       (n->text[end] == '<' || n->text[end] == '>' || n->text[end] == '=' || n->text[end] == '-'))
		end++;
	return end - i;
}

size_t hodo_name_without_arguments(char *name, size_t len)
{
	const struct name n = { .text = name, .len = len };
	size_t depth = 0, out = 0;

	for (size_t i = 0, count; i < len; i += count) {
		count = arrows_at(&n, i);
		if (!count) {
			depth += name[i] == '<';
			count = 1;
		}
		for (size_t k = 0; k < count && !depth; k++)
			name[out++] = name[i + k];
		depth -= depth && count == 1 && name[i] == '>';
	}
	return out;
}
