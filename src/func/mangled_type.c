/* SPDX-License-Identifier: MIT */
/*
 * mangled_type.c - types, template arguments and expressions within mangled names: only gone through, for
 * where they end, and for the parts in them that can be referred to.
 */
#include "mangled_impl.h"

/* ------------------------------------------------------------------------------ types */

bool hodo_mangled_types(struct hodo_mangled *m, char end)
{
	while (!take(m, end)) {
		/* The declarations of a lambda's template parameters; constraints. */
		if (peek(m) == 'T' && is_lower(peek_at(m, 1)) && peek_at(m, 1) != 's' && peek_at(m, 1) != 'e' &&
		    peek_at(m, 1) != 'u') {
			m->p += 2;
			if (m->p[-1] == 'y' || m->p[-1] == 'p')
				continue;
			if (m->p[-1] == 't' && !hodo_mangled_types(m, 'E'))
				return false;
			continue;
		}
		if (take(m, 'Q') ? !hodo_mangled_expression(m) : !hodo_mangled_type(m))
			return false;
	}
	return true;
}

/* T_, T0_, TL0__ */
static bool template_param(struct hodo_mangled *m)
{
	size_t level;

	m->p++;
	if (take(m, 'L') && (!number(m, &level) || !take(m, '_')))
		return false;
	return hodo_mangled_index(m);
}

/* A name used as a type; what an abbreviation alone stands for is no part. */
static bool named_type(struct hodo_mangled *m, bool *part)
{
	const char *start = m->p;

	if (peek(m) == 'S' && peek_at(m, 1) != 't') {
		if (!hodo_mangled_substitution(m))
			return false;
		if (peek(m) != 'I') {
			*part = false;
			return true;
		}
		m->p = start;
	}
	return hodo_mangled_full_name(m);
}

static bool function_type(struct hodo_mangled *m)
{
	if (!take(m, 'F'))
		return false;
	take(m, 'Y');
	/* The types, and what qualifies the function. */
	while (!take(m, 'E')) {
		if ((peek(m) == 'R' || peek(m) == 'O') && peek_at(m, 1) == 'E')
			m->p++;
		else if (!hodo_mangled_type(m))
			return false;
	}
	return true;
}

static bool array_type(struct hodo_mangled *m)
{
	size_t n;

	m->p++;
	if (!take(m, '_')) {
		if (!(number(m, &n) || hodo_mangled_expression(m)) || !take(m, '_'))
			return false;
	}
	return hodo_mangled_type(m);
}

/* D… but for names. part: cleared for a builtin type. */
static bool d_type(struct hodo_mangled *m, bool *part)
{
	char c = peek_at(m, 1);
	size_t n;

	m->p += 2;
	switch (c) {
	case 't':
	case 'T':
		return hodo_mangled_expression(m) && take(m, 'E');
	case 'p':
		return hodo_mangled_type(m);
	case 'v':
		if (take(m, '_'))
			return hodo_mangled_expression(m) && take(m, '_') && hodo_mangled_type(m);
		return number(m, &n) && take(m, '_') && hodo_mangled_type(m);
	case 'o': /* noexcept */
		return function_type(m);
	case 'O':
		return hodo_mangled_expression(m) && take(m, 'E') && function_type(m);
	case 'w':
		return hodo_mangled_types(m, 'E') && function_type(m);
	case 'x':
		return function_type(m);
	}
	*part = false;
	switch (c) {
	case 'F':
		if (!number(m, &n))
			return false;
		return take(m, '_') || take(m, 'b') || take(m, 'x');
	case 'B':
	case 'U':
		return (number(m, &n) || hodo_mangled_expression(m)) && take(m, '_');
	case 'k':
	case 'K':
		return hodo_mangled_full_name(m);
	}
	return c == 'd' || c == 'e' || c == 'f' || c == 'h' || c == 'i' || c == 's' || c == 'u' || c == 'a' ||
	       c == 'c' || c == 'n';
}

static bool t_type(struct hodo_mangled *m)
{
	const char *start = m->p;

	if (peek_at(m, 1) == 's' || peek_at(m, 1) == 'u' || peek_at(m, 1) == 'e') {
		m->p += 2;
		return hodo_mangled_full_name(m);
	}
	if (!template_param(m))
		return false;
	if (peek(m) != 'I')
		return true;
	hodo_mangled_add_part(m, start, false, false);
	return hodo_mangled_template_args(m);
}

static bool vendor_type(struct hodo_mangled *m, bool qualifier)
{
	m->p++;
	if (!hodo_mangled_source_name(m) || (peek(m) == 'I' && !hodo_mangled_template_args(m)))
		return false;
	return !qualifier || hodo_mangled_type(m);
}

static bool type_here(struct hodo_mangled *m, bool *part)
{
	static const char builtin[] = "vwbcahstijlmxynofdegz";
	char c = peek(m);

	if (c == 'r' || c == 'V' || c == 'K') {
		while (peek(m) == 'r' || peek(m) == 'V' || peek(m) == 'K')
			m->p++;
		return peek(m) == 'F' ? function_type(m) : hodo_mangled_type(m);
	}
	for (size_t i = 0; i < sizeof(builtin) - 1; i++) {
		if (c == builtin[i]) {
			m->p++;
			*part = false;
			return true;
		}
	}
	if (c == 'U' && (peek_at(m, 1) == 'l' || peek_at(m, 1) == 't'))
		return hodo_mangled_full_name(m);
	switch (c) {
	case 'P':
	case 'R':
	case 'O':
	case 'C':
	case 'G':
		m->p++;
		return hodo_mangled_type(m);
	case 'F':
		return function_type(m);
	case 'A':
		return array_type(m);
	case 'M':
		m->p++;
		return hodo_mangled_type(m) && hodo_mangled_type(m);
	case 'D':
		return d_type(m, part);
	case 'T':
		return t_type(m);
	case 'u':
	case 'U':
		return vendor_type(m, c == 'U');
	}
	return named_type(m, part);
}

bool hodo_mangled_type(struct hodo_mangled *m)
{
	const char *start = m->p;
	bool part = true, good;
	char c = peek(m);

	if (!enter(m))
		return false;
	good = type_here(m, &part);
	if (good && part)
		hodo_mangled_add_part(m, start, false,
				      c == 'N' || c == 'Z' || c == 'S' || is_digit(c));
	return leave(m, good);
}

/* ------------------------------------------------------------------ template arguments */

/* L type value E, L_Z encoding E */
static bool literal(struct hodo_mangled *m)
{
	m->p++;
	if (take2(m, '_', 'Z') || take(m, 'Z'))
		return hodo_mangled_encoding(m) && take(m, 'E');
	if (!hodo_mangled_type(m))
		return false;
	while (peek(m) && peek(m) != 'E')
		m->p++;
	return take(m, 'E');
}

static bool template_arg(struct hodo_mangled *m)
{
	switch (peek(m)) {
	case 'X':
		m->p++;
		return hodo_mangled_expression(m) && take(m, 'E');
	case 'L':
		return literal(m);
	case 'I': /* packs; of old compilers, too */
	case 'J':
		return hodo_mangled_template_args(m);
	}
	if (peek(m) == 'T' && peek_at(m, 1) == 'n') {
		m->p += 2;
		return hodo_mangled_type(m) && template_arg(m);
	}
	return hodo_mangled_type(m);
}

bool hodo_mangled_template_args(struct hodo_mangled *m)
{
	if (!enter(m))
		return false;
	m->p++;
	while (!take(m, 'E')) {
		if (take(m, 'Q') ? !hodo_mangled_expression(m) : !template_arg(m))
			return leave(m, false);
	}
	return leave(m, true);
}

/* ------------------------------------------------------------------------- expressions */

static bool expressions_to(struct hodo_mangled *m, char end)
{
	while (!take(m, end)) {
		if (!hodo_mangled_expression(m))
			return false;
	}
	return true;
}

static bool optional_args(struct hodo_mangled *m)
{
	return peek(m) != 'I' || hodo_mangled_template_args(m);
}

/* A name that is not bound: f, on operator, dn destructor, with template arguments. */
static bool base_name(struct hodo_mangled *m)
{
	if (take2(m, 'd', 'n')) {
		if (is_digit(peek(m)))
			return hodo_mangled_source_name(m) && optional_args(m);
		return hodo_mangled_type(m);
	}
	take2(m, 'o', 'n');
	return hodo_mangled_unqualified(m) && optional_args(m);
}

/* sr… */
static bool scoped_name(struct hodo_mangled *m)
{
	bool many = take(m, 'N');

	if (!hodo_mangled_type(m))
		return false;
	if (many) {
		while (!take(m, 'E')) {
			if (!hodo_mangled_source_name(m) || !optional_args(m))
				return false;
		}
	}
	return base_name(m);
}

/* fp_, fpT, fL0p_ */
static bool parameter(struct hodo_mangled *m)
{
	size_t n;

	m->p++;
	if (take(m, 'L')) {
		if (!number(m, &n) || !take(m, 'p'))
			return false;
	} else if (!take(m, 'p')) {
		return false;
	}
	if (take(m, 'T'))
		return true;
	while (peek(m) == 'r' || peek(m) == 'V' || peek(m) == 'K')
		m->p++;
	return hodo_mangled_index(m);
}

/* fl, fr, fL, fR: operator, one or two expressions. */
static bool fold(struct hodo_mangled *m)
{
	bool two = is_upper(peek_at(m, 1));

	if (m->end - m->p < 4)
		return false;
	m->p += 4;
	return hodo_mangled_expression(m) && (!two || hodo_mangled_expression(m));
}

static bool is_fold(const struct hodo_mangled *m)
{
	char c = peek_at(m, 1);

	return peek(m) == 'f' && (c == 'l' || c == 'r' || c == 'R' || (c == 'L' && !is_digit(peek_at(m, 2))));
}

static bool new_expression(struct hodo_mangled *m)
{
	m->p += 2;
	if (!expressions_to(m, '_') || !hodo_mangled_type(m))
		return false;
	if (take(m, 'E'))
		return true;
	if (take2(m, 'p', 'i'))
		return expressions_to(m, 'E');
	return hodo_mangled_expression(m) && take(m, 'E');
}

static bool conversion(struct hodo_mangled *m)
{
	if (!hodo_mangled_type(m))
		return false;
	return take(m, '_') ? expressions_to(m, 'E') : hodo_mangled_expression(m);
}

/* Requirements are skipped as far as they are made of expressions and types. */
static bool requires_expression(struct hodo_mangled *m)
{
	if (m->p[-1] == 'Q' && !hodo_mangled_types(m, '_'))
		return false;
	while (!take(m, 'E')) {
		if (take(m, 'X')) {
			if (!hodo_mangled_expression(m))
				return false;
			take(m, 'N');
			if (take(m, 'R') && !hodo_mangled_full_name(m))
				return false;
		} else if (take(m, 'T') ? !hodo_mangled_type(m) : !(take(m, 'Q') && hodo_mangled_expression(m))) {
			return false;
		}
	}
	return true;
}

/* Those that begin with two letters of their own. *known: it was one. */
static bool special_expression(struct hodo_mangled *m, bool *known)
{
	char a = peek(m), b = peek_at(m, 1);

	*known = true;
	if (a == 'n' && (b == 'w' || b == 'a'))
		return new_expression(m);
	m->p += 2;
	switch ((unsigned char)a << 8 | (unsigned char)b) {
	case 'c' << 8 | 'l':
	case 'i' << 8 | 'l':
	case 'c' << 8 | 'p':
		return expressions_to(m, 'E');
	case 't' << 8 | 'l':
		return hodo_mangled_type(m) && expressions_to(m, 'E');
	case 'c' << 8 | 'v':
		return conversion(m);
	case 'd' << 8 | 'c':
	case 's' << 8 | 'c':
	case 'c' << 8 | 'c':
	case 'r' << 8 | 'c':
		return hodo_mangled_type(m) && hodo_mangled_expression(m);
	case 's' << 8 | 't':
	case 'a' << 8 | 't':
	case 't' << 8 | 'i':
		return hodo_mangled_type(m);
	case 'd' << 8 | 't':
	case 'p' << 8 | 't':
		return hodo_mangled_expression(m) && hodo_mangled_expression(m);
	case 's' << 8 | 'r':
		return scoped_name(m);
	case 'g' << 8 | 's':
	case 's' << 8 | 'p':
	case 's' << 8 | 'Z':
		return hodo_mangled_expression(m);
	case 's' << 8 | 'P':
		while (!take(m, 'E')) {
			if (!template_arg(m))
				return false;
		}
		return true;
	case 't' << 8 | 'r':
		return true;
	case 'o' << 8 | 'n':
	case 'd' << 8 | 'n':
		m->p -= 2;
		return base_name(m);
	case 'r' << 8 | 'q':
	case 'r' << 8 | 'Q':
		return requires_expression(m);
	}
	m->p -= 2;
	*known = false;
	return false;
}

static bool expression_here(struct hodo_mangled *m)
{
	char c = peek(m);
	bool known, good;
	int operands;

	if (c == 'L')
		return literal(m);
	if (c == 'T' && peek_at(m, 1) != 's')
		return template_param(m);
	if (is_fold(m))
		return fold(m);
	if (c == 'f' && (peek_at(m, 1) == 'p' || peek_at(m, 1) == 'L'))
		return parameter(m);
	if (is_digit(c))
		return base_name(m);
	if (c == 'u')
		return vendor_type(m, false);
	if (c == 'S' || c == 'N')
		return hodo_mangled_type(m);
	good = special_expression(m, &known);
	if (known)
		return good;
	operands = hodo_mangled_operands(m);
	if (operands < 0)
		return false;
	m->p += 2;
	take(m, '_'); /* of pp_ and mm_ */
	for (good = true; good && operands > 0; operands--)
		good = hodo_mangled_expression(m);
	return good;
}

bool hodo_mangled_expression(struct hodo_mangled *m)
{
	return enter(m) && leave(m, expression_here(m));
}
