/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * glob.c - matching of names and texts against a shell-like pattern.
 *
 * The classic loop with one point of return: when a piece of the pattern does not fit, the last * takes one byte more.
 * An earlier * need never be reopened, since what follows it has matched as far to the left as it can.
 */
#include "glob.h"

struct pattern {
	const unsigned char *p;
	size_t len;
	size_t close; /* one past the last ']', 0 if there is none */
};

/*
 * Where the set that begins at i ends (one past its ']'), or 0 if it is not closed. Looking at the last ']' first keeps
 * unclosed brackets from being searched to the end again and again. The search is bounded all the same: a pattern that
 * is a field of an event may change under our eyes.
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

/* Match one byte against what stands at i; the place behind it, or 0 if it does not fit. */
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

bool hodo_glob(const char *pattern, size_t pattern_len, const char *text, size_t text_len)
{
	struct pattern pat = { (const unsigned char *)pattern, pattern_len, pattern_len };
	const unsigned char *t = (const unsigned char *)text;
	size_t i = 0, j = 0;           /* places in pattern and text */
	size_t star = 0, star_text = 0; /* behind the last *, and where the text goes on after it */
	bool have_star = false;

	while (pat.close > 0 && pat.p[pat.close - 1] != ']')
		pat.close--;
	while (j < text_len) {
		size_t next = 0;

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
	while (i < pat.len && pat.p[i] == '*')
		i++;
	return i == pat.len;
}
