/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_lex.c - the tokens of a filter expression: C's, plus =~ and !~, $variables, and times (5ms).
 */
#include "filter_lex.h"
#include "filter.h"

#include <errno.h>

static const struct hodo_filter_sign signs[] = {
	/* Longer operators come before their prefixes. */
	{ "<<", 9, HODO_FILTER_SHL, 0 }, { ">>", 9, HODO_FILTER_SHR, 0 },
	{ "<=", 8, HODO_FILTER_LE, 0 }, { ">=", 8, HODO_FILTER_GE, 0 },
	{ "==", 7, HODO_FILTER_EQ, 0 }, { "!=", 7, HODO_FILTER_NE, 0 },
	{ "=~", 7, HODO_FILTER_MATCH, 0 }, { "!~", 7, HODO_FILTER_UNLIKE, HODO_FILTER_NOT }, /* or ! and ~ */
	{ "&&", 3, HODO_FILTER_LAND, 0 }, { "||", 2, HODO_FILTER_LOR, 0 },
	{ "!", 0, 0, HODO_FILTER_NOT }, { "~", 0, 0, HODO_FILTER_INV },
	{ "*", 11, HODO_FILTER_MUL, 0 }, { "/", 11, HODO_FILTER_DIV, 0 }, { "%", 11, HODO_FILTER_MOD, 0 },
	{ "+", 10, HODO_FILTER_ADD, 0 }, { "-", 10, HODO_FILTER_SUB, HODO_FILTER_NEG },
	{ "<", 8, HODO_FILTER_LT, 0 }, { ">", 8, HODO_FILTER_GT, 0 },
	{ "&", 6, HODO_FILTER_AND, 0 }, { "^", 5, HODO_FILTER_XOR, 0 }, { "|", 4, HODO_FILTER_OR, 0 },
	{ "?", 1, HODO_FILTER_SELECT, 0 }, { ":", 0, 0, 0 },
	{ "(", 0, 0, 0 }, { ")", 0, 0, 0 }, { "[", 0, 0, 0 }, { "]", 0, 0, 0 },
};

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
	return is_name_start(c) || (c >= '0' && c <= '9');
}

static bool is_one_of(char c, const char *set)
{
	while (*set && *set != c)
		set++;
	return *set;
}

/* The value of a digit, or 99. */
static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 99;
}

/*
 * The character at p, which may be an escape, into *c; how many bytes it takes,
 * 0 if the escape is not C's.
 */
static size_t character(const char *p, char *c)
{
	static const char from[] = "abefnrtv\\'\"?", to[] = "\a\b\033\f\n\r\t\v\\'\"?";
	unsigned int v = 0;
	size_t n = 1, i;

	*c = *p;
	if (*p != '\\')
		return 1;
	if (digit(p[1]) < 8) {
		for (; n < 4 && digit(p[n]) < 8; n++)
			v = v * 8 + digit(p[n]);
		*c = (char)v;
		return v < 256 ? n : 0;
	}
	if (p[1] == 'x') {
		for (n = 2; n < 4 && digit(p[n]) < 16; n++)
			v = v * 16 + digit(p[n]);
		*c = (char)v;
		return n > 2 ? n : 0;
	}
	for (i = 0; from[i] && from[i] != p[1]; i++)
		;
	*c = to[i];
	return from[i] ? 2 : 0;
}

/* A text in double quotes, or a character in single ones. */
static int lex_quoted(struct hodo_filter_token *t, struct hodo_bounded *error)
{
	char quote = *t->start, c = 0;
	size_t n = 1, chars = 0, used;

	while (t->start[n] != quote) {
		if (t->start[n] == '\0') {
			hodo_bounded_put(error, "missing closing ");
			hodo_bounded_bytes(error, &quote, 1);
			return -EINVAL;
		}
		used = character(t->start + n, &c);
		if (used == 0) {
			t->start += n; /* the column of the escape */
			hodo_bounded_put(error, "unknown escape (write \\\\ for a backslash)");
			return -EINVAL;
		}
		n += used;
		chars++;
	}
	t->len = n + 1;
	t->type = HODO_TOKEN_TEXT;
	if (quote == '"')
		return 0;
	if (chars != 1) {
		hodo_bounded_put(error, "'' holds one character (put strings in \"\")");
		return -EINVAL;
	}
	t->type = HODO_TOKEN_INT;
	t->i = (uint64_t)(int64_t)(signed char)c;
	return 0;
}

size_t hodo_filter_lex_text(const struct hodo_filter_token *token, char *out)
{
	size_t i = 1, n = 0;

	while (i < token->len - 1)
		i += character(token->start + i, &out[n++]);
	return n;
}

/* Floating-point constant of n bytes at t->start, suffix not included; unit_ns: see struct hodo_filter_lexer. */
static int lex_real(const struct hodo_filter_lexer *lexer, struct hodo_filter_token *t, size_t n, uint64_t unit_ns)
{
	t->type = unit_ns ? HODO_TOKEN_INT : HODO_TOKEN_FLOAT;
	return lexer->real ? lexer->real(t->start, n, unit_ns, unit_ns ? &t->i : &t->d_bits) : -EOPNOTSUPP;
}

/* The digits from i up to n. */
static int lex_digits(struct hodo_filter_token *t, size_t i, size_t n, unsigned int base)
{
	if (i == n)
		return -EINVAL;
	for (; i < n; i++) {
		if (digit(t->start[i]) >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(t->i, base, &t->i) ||
		    __builtin_add_overflow(t->i, digit(t->start[i]), &t->i))
			return -ERANGE;
	}
	t->type = HODO_TOKEN_INT;
	return 0;
}

/* Integer of n bytes at t->start, suffix not included. */
static int lex_int(struct hodo_filter_token *t, size_t n)
{
	char kind = n > 1 && t->start[0] == '0' ? t->start[1] : 0;
	int rc;

	if (kind == 'x' || kind == 'X')
		rc = lex_digits(t, 2, n, 16);
	else if (kind == 'b' || kind == 'B')
		rc = lex_digits(t, 2, n, 2);
	else
		rc = lex_digits(t, kind ? 1 : 0, n, kind ? 8 : 10);
	t->is_unsigned |= t->i >> 63;
	return rc;
}

/* Bytes of C's suffix at the end of a number of n bytes: u, l, ul, ll and so on, in either case; or f, l. */
static size_t suffix_len(const char *p, size_t n, bool is_float, bool *is_unsigned)
{
	size_t s = 0;
	unsigned int u = 0, l = 0;

	if (is_float)
		return n > 1 && is_one_of(p[n - 1], "fFlL") ? 1 : 0;
	for (; s < n && s < 3 && is_one_of(p[n - 1 - s], "uUlL"); s++) {
		if (p[n - 1 - s] == 'u' || p[n - 1 - s] == 'U')
			u++;
		else
			l++;
	}
	*is_unsigned = u > 0;
	return u <= 1 && l <= 2 ? s : 0;
}

/* The unit that follows a time of n bytes, in ns; 0 if there is none. *len: the unit's bytes. */
static uint64_t time_unit(const char *p, size_t n, size_t *len)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "m", 60000000000 }, { "h", 3600000000000 }, { "d", 86400000000000 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*len = hodo_bounded_len(units[i].name);
		if (n > *len && memcmp(p + n - *len, units[i].name, *len) == 0 &&
		    (digit(p[n - *len - 1]) < 10 || p[n - *len - 1] == '.'))
			return units[i].ns;
	}
	return 0;
}

/* A time, as an integer of nanoseconds; n bytes without the unit. */
static int lex_time(const struct hodo_filter_lexer *lexer, struct hodo_filter_token *t, size_t n, uint64_t unit_ns)
{
	int rc = lex_digits(t, 0, n, 10);

	if (rc == -EINVAL)
		rc = lex_real(lexer, t, n, unit_ns);
	else if (!rc && (__builtin_mul_overflow(t->i, unit_ns, &t->i) || t->i >> 63))
		rc = -ERANGE;
	t->is_unsigned = false;
	return rc;
}

static int lex_number(const struct hodo_filter_lexer *lexer, struct hodo_filter_token *t, struct hodo_bounded *error)
{
	const char *p = t->start;
	const char *exponent = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? "pP" : "eE";
	bool is_float = false;
	size_t n = 0, suffix;
	uint64_t unit_ns;
	int rc;

	while (is_name(p[n]) || p[n] == '.' ||
	       ((p[n] == '+' || p[n] == '-') && n > 0 && is_one_of(p[n - 1], exponent))) {
		if (p[n] == '.' || is_one_of(p[n], exponent))
			is_float = true;
		n++;
	}
	t->len = n;
	unit_ns = exponent[0] == 'p' ? 0 : time_unit(p, n, &suffix);
	if (!unit_ns)
		suffix = suffix_len(p, n, is_float, &t->is_unsigned);
	rc = unit_ns ? lex_time(lexer, t, n - suffix, unit_ns) :
	     is_float ? lex_real(lexer, t, n - suffix, 0) : lex_int(t, n - suffix);
	if (rc == -ERANGE) {
		hodo_bounded_put(error, "number too large");
	} else if (rc == -EOPNOTSUPP) {
		hodo_bounded_put(error, "floating-point numbers are not allowed here");
	} else if (rc) {
		hodo_bounded_put(error, "not a number: '");
		hodo_bounded_bytes(error, p, n < 40 ? n : 40);
		hodo_bounded_put(error, "'");
	}
	return rc ? -EINVAL : 0;
}

static int lex_sign(struct hodo_filter_token *t, struct hodo_bounded *error)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*t->start;
	size_t i, n;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		n = hodo_bounded_len(signs[i].text);
		if (t->start[0] == signs[i].text[0] && (n == 1 || t->start[1] == signs[i].text[1])) {
			t->type = HODO_TOKEN_OP;
			t->sign = &signs[i];
			t->len = n;
			return 0;
		}
	}
	if (c == '=') {
		hodo_bounded_put(error, "'=' (write '==' for equal)");
	} else if (c > ' ' && c < 0x7f) {
		hodo_bounded_put(error, "unexpected '");
		hodo_bounded_bytes(error, t->start, 1);
		hodo_bounded_put(error, "'");
	} else {
		hodo_bounded_put(error, "unexpected byte 0x");
		hodo_bounded_bytes(error, &hex[c >> 4], 1);
		hodo_bounded_bytes(error, &hex[c & 15], 1);
	}
	return -EINVAL;
}

int hodo_filter_lex(const struct hodo_filter_lexer *lexer, const char *p, struct hodo_filter_token *token,
		    struct hodo_bounded *error)
{
	while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
		p++;
	*token = (struct hodo_filter_token){ .type = HODO_TOKEN_END, .start = p };
	if (*p == '\0')
		return 0;
	if (*p == '"' || *p == '\'')
		return lex_quoted(token, error);
	if ((*p >= '0' && *p <= '9') || (*p == '.' && p[1] >= '0' && p[1] <= '9'))
		return lex_number(lexer, token, error);
	if (is_name_start(*p) || (*p == '$' && is_name_start(p[1]))) {
		token->type = HODO_TOKEN_NAME;
		token->len = *p == '$';
		while (is_name(token->start[token->len]))
			token->len++;
		return 0;
	}
	return lex_sign(token, error);
}
