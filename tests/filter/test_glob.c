/* SPDX-License-Identifier: MIT */
/* test_glob.c - the glob matcher: cases by hand, and against a plain recursive one. */
#include <core/glob.h>
#include "reference.h"

#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

static const struct {
	const char *pattern;
	const char *text;
	bool match;
} cases[] = {
	{ "", "", true },
	{ "", "a", false },
	{ "a", "", false },
	{ "*", "", true },
	{ "*", "anything at all", true },
	{ "**", "", true },
	{ "kv:*", "kv:put", true },
	{ "kv:*", "kv:", true },
	{ "kv:*", "kvs:put", false },
	{ "*:put", "kv:put", true },
	{ "*:put", "kv:puts", false },
	{ "user*7", "user:1747", true },
	{ "user*7", "user:1748", false },
	{ "a*b*c", "aXbXbXc", true },
	{ "a*b*c", "aXcXb", false },
	{ "?", "", false },
	{ "?", "x", true },
	{ "???", "xy", false },
	{ "*?", "", false },
	{ "?*?", "ab", true },
	{ "[abc]", "b", true },
	{ "[abc]", "d", false },
	{ "[a-c]x", "bx", true },
	{ "[a-c]x", "dx", false },
	{ "[!a-c]", "d", true },
	{ "[^a-c]", "a", false },
	{ "[]]", "]", true },
	{ "[!]]", "]", false },
	{ "[]a]", "a", true },
	{ "[a-]", "-", true },
	{ "[-a]", "-", true },
	{ "[a-", "[a-", true },   /* not closed: itself */
	{ "[", "[", true },
	{ "[]", "[]", true },
	{ "[!]", "[!]", true },
	{ "a[", "a[", true },
	{ "[z-a]", "m", false },  /* an empty range */
	{ "[\\]", "\\", true },   /* no escape inside a set */
	{ "\\*", "*", true },
	{ "\\*", "x", false },
	{ "\\?x", "?x", true },
	{ "\\[a]", "[a]", true },
	{ "\\\\", "\\", true },
	{ "a\\", "a\\", true },   /* nothing to escape: itself */
	{ "*\\", "abc\\", true },
	{ "*[0-9]", "shard7", true },
	{ "*[0-9]", "shard", false },
	{ "\xc3*", "\xc3\xa9", true },
	{ "[\x80-\xff]", "\xc3", true },
};

TEST(test_cases)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool got = hodo_glob(cases[i].pattern, strlen(cases[i].pattern), cases[i].text,
				     strlen(cases[i].text));

		if (got != cases[i].match)
			fail_msg("'%s' against '%s': %d", cases[i].pattern, cases[i].text, got);
	}
}

TEST(test_lengths_count_not_nul)
{
	assert_true(hodo_glob("a*zzz", 2, "abc", 3));
	assert_true(hodo_glob("abc", 3, "abcdef", 3));
	assert_true(hodo_glob("a\0b", 3, "a\0b", 3));
	assert_false(hodo_glob("a\0b", 3, "a\0c", 3));
	assert_true(hodo_glob("a?b", 3, "a\0b", 3));
}

/* A copy of exactly len bytes, so that the address sanitizer sees a read behind it. */
static char *exactly(const char *bytes, size_t len)
{
	char *copy = malloc(len ? len : 1);

	memcpy(copy, bytes, len);
	return copy;
}

TEST(test_random_against_reference)
{
	static const char alphabet[] = "aab**?[]!^-\\";
	enum { LETTERS = sizeof(alphabet) - 1 };
	uint64_t seed = random_seed();
	unsigned int round, matched = 0;

	for (round = 0; round < ROUNDS(300000); round++) {
		char pattern[12], text[12], *p, *t;
		size_t m = random_below(&seed, 11), n = random_below(&seed, 11), i;
		bool want, got;

		for (i = 0; i < m; i++)
			pattern[i] = alphabet[random_below(&seed, LETTERS)];
		for (i = 0; i < n; i++)
			text[i] = alphabet[random_below(&seed, random_below(&seed, 4) ? 3 : LETTERS)];
		p = exactly(pattern, m);
		t = exactly(text, n);
		want = reference_glob(p, m, t, n);
		got = hodo_glob(p, m, t, n);
		if (want != got)
			fail_msg("'%.*s' against '%.*s': %d", (int)m, pattern, (int)n, text, got);
		matched += got;
		free(p);
		free(t);
	}
	assert_in_range(matched, ROUNDS(10000), ROUNDS(290000)); /* both answers were really tried */
}

/*
 * What takes exponential time in a recursive matcher, and cubic time where unclosed
 * brackets are searched again and again: either would never end.
 */
TEST(test_hostile_patterns_end)
{
	enum { N = 3000 };
	char *pattern = malloc(N), *text = malloc(N);
	size_t i;

	for (i = 0; i < N; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[N - 1] = 'b';
	memset(text, 'a', N);
	assert_false(hodo_glob(pattern, N, text, N));
	memset(pattern, '[', N);
	pattern[0] = '*';
	memset(text, '[', N);
	text[N - 1] = 'x';
	assert_false(hodo_glob(pattern, N, text, N));
	free(pattern);
	free(text);
}
