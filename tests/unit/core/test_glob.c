/* SPDX-License-Identifier: MIT */
/* test_glob.c - the glob matcher: cases by hand, and against a plain recursive one. */
#include <core/glob.h>
#include "filter_reference.h"

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
	{ "[a-", "[a-", true },   /* not closed: stands for itself */
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
	{ "a\\", "a\\", true },   /* nothing to escape: stands for itself */
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

static const struct {
	const char *pattern, *name;
	bool match;
} tagged[] = {
	{ "C::find", "C::find[abi:cxx11]", true },
	{ "C::find[abi:cxx11]", "C::find[abi:cxx11]", true },
	{ "C::find[abi:cxx11]", "C::find", true },
	{ "C::find[abi:*]", "C::find[abi:cxx11]", true },
	{ "C::find[abi:cxx11](int)", "C::find(int)", true },
	{ "C::find(int)", "C::find[abi:cxx11](int)", true },
	{ "*::find", "C[abi:a]::find[abi:b][abi:c]", true },
	{ "*find[abi:x]*", "C::find", true },
	{ "find?abi:cxx11?", "find[abi:cxx11]", true },
	{ "find[abi]", "finda", true },       /* a set, as ever */
	{ "find[abi:", "find[abi:", true },   /* not closed: itself */
	{ "find[abi:", "find", false },
	{ "find", "find[abi:cxx11", false },
	{ "find", "find[cxx11]", false },
	{ "find[abi:cxx11]", "finds", false },
	{ "C::find", "C::find[abi:cxx11]x", false },
	{ "[abi:x]", "", true },
};

TEST(test_tags)
{
	for (size_t i = 0; i < sizeof(tagged) / sizeof(tagged[0]); i++) {
		size_t m = strlen(tagged[i].pattern), n = strlen(tagged[i].name);
		/* Without a NUL: the address sanitizer sees reads beyond it. */
		char *p = malloc(m ? m : 1), *t = malloc(n ? n : 1);

		memcpy(p, tagged[i].pattern, m);
		memcpy(t, tagged[i].name, n);
		if (hodo_glob_name(p, m, t, n) != tagged[i].match)
			fail_msg("'%s' against '%s'", tagged[i].pattern, tagged[i].name);
		free(p);
		free(t);
	}
	assert_false(hodo_glob("C::find", 7, "C::find[abi:cxx11]", 18)); /* of a text, each byte counts */
}

TEST(test_lists)
{
	static const struct {
		const char *list;
		size_t first;
	} lists[] = {
		{ "", 0 }, { ",a", 0 }, { "a", 1 }, { "a,b", 1 },
		{ "S<int, double>::get,x", 19 }, { "f(int, long),x", 12 }, { "S<f(a, b), c<d, e>>,x", 19 },
		{ "probe:f(n->next, n->len),x", 24 }, { "a<b,c", 3 }, { "f(a,b", 3 }, { "a>,b>", 2 },
		{ "operator<,operator>", 9 }, { "operator->,S<a, b>", 10 }, { "operator<< <a, b>,x", 17 },
		{ "operator,,x", 9 }, { "S<&X::operator<, b>::f,x", 22 },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (hodo_glob_first(lists[i].list, strlen(lists[i].list)) != lists[i].first)
			fail_msg("'%s': %zu", lists[i].list, hodo_glob_first(lists[i].list, strlen(lists[i].list)));
	assert_int_equal(hodo_glob_first("a<b\0c>,d", 9), 3); /* a bracket of the next pattern closes nothing */
}

TEST(test_lengths_count_not_nul)
{
	assert_true(hodo_glob("a*zzz", 2, "abc", 3));
	assert_true(hodo_glob("abc", 3, "abcdef", 3));
	assert_true(hodo_glob("a\0b", 3, "a\0b", 3));
	assert_false(hodo_glob("a\0b", 3, "a\0c", 3));
	assert_true(hodo_glob("a?b", 3, "a\0b", 3));
}

/* A copy of exactly len bytes, so that the address sanitizer sees reads beyond it. */
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
	assert_in_range(matched, ROUNDS(10000), ROUNDS(290000)); /* both answers must occur often */
}

/*
 * A recursive matcher takes exponential time for these, and one that searches unclosed brackets
 * again and again takes cubic time: neither would ever end.
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
