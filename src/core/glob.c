/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * glob.c - matches names and texts against a shell-like pattern.
 *
 * The classic loop that backtracks to one point: when a piece of the pattern does not match, the last * takes
 * one byte more. An earlier * is never revisited, since what follows it has matched as far to the left as it
 * can.
 */
#include "glob.h"

#define BRACKET_MAX 4096u /* bytes in brackets of a list */

struct pattern {
	const unsigned char *p;
	size_t len;
	size_t close; /* one past the last ']', 0 if there is none */
};

/*
 * Where the set that begins at i ends (one past its ']'), or 0 if it is not closed. Finding the last ']'
 * first avoids searching to the end again for each unclosed bracket. The search is bounded anyway: a pattern
 * that is a field of an event may change while we read it.
 */
static size_t set_end(const struct pattern *pat, size_t i)
{
	i++;
	if (i < pat->len && (pat->p[i] == '!' || pat->p[i] == '^'))
		i++;
	for (i++; i < pat->close; i++) /* not the first byte of the set, even if it is ']' */
		if (pat->p[i] == ']')
			return i + 1;
	return 0;
}

/* Whether c is in the set whose '[' is at i and whose ']' is at end - 1. */
static bool set_has(const struct pattern *pat, size_t i, size_t end, unsigned char c)
{
	const unsigned char *p = pat->p;
	bool negate = false, found = false;

	i++;
	if (p[i] == '!' || p[i] == '^') {
		negate = true;
		i++;
	}
	while (i + 1 < end) {
		if (i + 2 < end - 1 && p[i + 1] == '-') {
			found |= p[i] <= c && c <= p[i + 2];
			i += 3;
		} else {
			found |= p[i] == c;
			i++;
		}
	}
	return found != negate;
}

/* Match one byte against the piece at i. Returns where the next piece begins, or 0 if it does not match. */
static size_t match_one(const struct pattern *pat, size_t i, unsigned char c)
{
	size_t end;

	switch (pat->p[i]) {
	case '?':
		return i + 1;
	case '[':
		end = set_end(pat, i);
		if (end)
			return set_has(pat, i, end, c) ? end : 0;
		break;
	case '\\':
		if (i + 1 < pat->len)
			i++;
		break;
	}
	return pat->p[i] == c ? i + 1 : 0;
}

size_t hodo_glob_tag(const char *name, size_t len)
{
	static const char begin[] = "[abi:";
	size_t n = 0;

	while (begin[n] && n < len && name[n] == begin[n])
		n++;
	if (begin[n])
		return 0;
	while (n < len && name[n] && name[n] != ']' && name[n] != '[')
		n++;
	return n < len && name[n] == ']' ? n + 1 : 0;
}

static size_t tag_at(const unsigned char *text, size_t len, size_t i)
{
	return i < len && text[i] == '[' ? hodo_glob_tag((const char *)text + i, len - i) : 0;
}

static bool has_tag(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (tag_at((const unsigned char *)text, len, i))
			return true;
	return false;
}

/* Without tags, it moves over those of both. */
static bool matches(const char *pattern, size_t pattern_len, const char *text, size_t text_len, bool tags)
{
	struct pattern pat = { (const unsigned char *)pattern, pattern_len, pattern_len };
	const unsigned char *t = (const unsigned char *)text;
	size_t i = 0, j = 0;           /* places in pattern and text */
	size_t star = 0, star_text = 0; /* after the last *, and where the text continues after it */
	bool have_star = false;

	while (pat.close > 0 && pat.p[pat.close - 1] != ']')
		pat.close--;
	while (j < text_len) {
		size_t next = 0;

		if (!tags) {
			size_t more = tag_at(t, text_len, j);

			i += tag_at(pat.p, pat.len, i);
			j += more;
			if (more)
				continue;
		}
		if (i < pat.len && pat.p[i] == '*') {
			star = ++i;
			star_text = j;
			have_star = true;
			if (i == pat.len)
				return true;
			continue;
		}
		if (i < pat.len)
			next = match_one(&pat, i, t[j]);
		if (next) {
			i = next;
			j++;
		} else if (have_star) {
			i = star;
			j = ++star_text;
		} else {
			return false;
		}
	}
	while (i < pat.len && (pat.p[i] == '*' || (!tags && tag_at(pat.p, pat.len, i))))
		i += pat.p[i] == '*' ? 1 : tag_at(pat.p, pat.len, i);
	return i == pat.len;
}

bool hodo_glob(const char *pattern, size_t pattern_len, const char *text, size_t text_len)
{
	return matches(pattern, pattern_len, text, text_len, true);
}

bool hodo_glob_name(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
	return matches(pattern, pattern_len, name, name_len, true) ||
	       ((has_tag(name, name_len) || has_tag(pattern, pattern_len)) &&
		matches(pattern, pattern_len, name, name_len, false));
}

/* ----------------------------------------------------------------------------- lists */

/* Length of the "operator" whose sign is at i, as in "operator<", with all of the sign; 0: none is there. */
static size_t operator_at(const char *text, size_t len, size_t i)
{
	static const char word[] = "operator";
	size_t n = 0;

	while (word[n] && i + n < len && text[i + n] == word[n])
		n++;
	if (word[n])
		return 0;
	if (i + n < len && text[i + n] == ',')
		return n + 1;
	while (i + n < len && (text[i + n] == '<' || text[i + n] == '>' || text[i + n] == '-' || text[i + n] == '='))
		n++;
	return n;
}

static bool is_open(char c)
{
	return c == '<' || c == '(';
}

/* One past what closes the bracket at i; 0: it is not closed, or far away. */
static size_t bracket_end(const char *text, size_t len, size_t i)
{
	size_t depth = 0;

	len = len - i > BRACKET_MAX ? i + BRACKET_MAX : len;
	for (size_t n; i < len && text[i]; i += n) {
		n = operator_at(text, len, i);
		if (n)
			continue;
		n = 1;
		depth += is_open(text[i]);
		if ((text[i] == '>' && text[i - 1] != '-') || text[i] == ')')
			if (--depth == 0)
				return i + 1;
	}
	return 0;
}

size_t hodo_glob_first(const char *list, size_t len)
{
	bool closed = true; /* as far as we know: an open bracket is looked for once */
	size_t i = 0;

	while (i < len && list[i] != ',' && list[i]) {
		size_t n = operator_at(list, len, i), end = 0;

		if (!n && closed && is_open(list[i])) {
			end = bracket_end(list, len, i);
			closed = end > 0;
		}
		i = end ? end : i + (n ? n : 1);
	}
	return i < len ? i : len;
}
