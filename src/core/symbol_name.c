/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbol_name.h"

#include "bounded_text.h"

#define CONVERSIONS_MAX 10u /* 2^n times as long for libiberty */

enum { TYPE_NONE = 0, BIND_GLOBAL = 1, BIND_WEAK = 2 }; /* STT_NOTYPE, STB_GLOBAL, STB_WEAK */

/* f.cold (gcc; .cold.N: clang), f.part.0, f.isra.0, f.constprop.0, f.lto_priv.0 … */
static const struct {
	const char *word;
	bool numbered, bare;
} suffixes[] = {
	{ "cold", true, true },	     { "part", true, false },	   { "isra", true, false },
	{ "constprop", true, false }, { "lto_priv", true, false },  { "clone", true, false },
	{ "llvm", true, false },      { "__uniq", true, false },    { "localalias", true, true },
	{ "warm", false, true },
};

static bool is_suffix(const char *s, size_t len, bool numbered)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *word = suffixes[i].word;
		size_t n = 0;

		while (n < len && word[n] && word[n] == s[n])
			n++;
		if (n == len && !word[n])
			return numbered ? suffixes[i].numbered : suffixes[i].bare;
	}
	return false;
}

/* Where the word after the last dot before end begins; 0: there is no dot, or nothing precedes it. */
static size_t last_word(const char *name, size_t end)
{
	while (end > 0 && name[end - 1] != '.')
		end--;
	return end > 1 ? end : 0;
}

size_t hodo_symbol_without_suffix(const char *name, size_t len)
{
	size_t word = last_word(name, len), end = len;

	if (!word || word == len)
		return len;
	while (end > word && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end > word)
		return is_suffix(name + word, len - word, false) ? word - 1 : len;
	end = word - 1;
	word = last_word(name, end);
	return word && is_suffix(name + word, end - word, true) ? word - 1 : len;
}

size_t hodo_symbol_whole_name(const char *name)
{
	size_t len = hodo_bounded_len(name), next;

	while ((next = hodo_symbol_without_suffix(name, len)) < len)
		len = next;
	return len;
}

bool hodo_symbol_demangles(const char *name)
{
	bool converts = false, parameter = false;
	unsigned arguments = 0;

	for (; *name; name++) {
		converts = converts || (name[0] == 'c' && name[1] == 'v');
		arguments += parameter && name[0] == '_' && name[1] == 'I';
		parameter = *name == 'T' ||
			    (parameter && ((*name >= '0' && *name <= '9') || (*name >= 'A' && *name <= 'Z')));
	}
	return !converts || arguments <= CONVERSIONS_MAX;
}

uint32_t hodo_symbol_rank(const char *name, unsigned type, unsigned binding, uint64_t size)
{
	uint32_t underscores = 0, rank = type == TYPE_NONE;
	size_t len = hodo_bounded_len(name);

	if (name[0] != '_' || name[1] != 'Z')
		while (underscores < 7 && name[underscores] == '_')
			underscores++;
	rank = rank << 1 | (hodo_symbol_without_suffix(name, len) != len);
	rank = rank << 3 | underscores;
	rank = rank << 2 | (binding == BIND_GLOBAL ? 0u : binding == BIND_WEAK ? 1u : 2u);
	return rank << 1 | (size == 0);
}

/* --------------------------------------------- short forms: one pass; the output never overtakes the input */

#define DEPTH_MAX 64u

/* An open bracket; [0]: the whole name. */
struct level {
	char kind;      /* '<', '(', '{', '[' */
	bool of_std;    /* '<': of a template of std */
	bool in_std;    /* the name being written is in std */
	bool usual;     /* '<': the argument begins like one that is left out */
	size_t name;    /* where the last component of the name being written begins in the output */
	size_t args;    /* '<': where the arguments begin in the output */
	size_t kept;    /* '<': where they end there, without those that are left out */
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

/* An argument ends. It is kept unless it is only a usual one. */
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
