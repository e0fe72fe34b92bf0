/* SPDX-License-Identifier: MIT */
/* test_function_pattern.c - patterns of functions, and the names of files in them. */
#include <lib/unit.h>

#include <stdio.h>
#include <string.h>

#include <core/function_pattern.h>

/* "[!]FILE|SOURCE|GLOB", or the range in decimal; "none". */
static const char *taken(const char *text)
{
	static char said[256];
	struct hodo_function_pattern p;

	if (!hodo_function_pattern(&p, text, strlen(text)))
		return "none";
	if (!p.glob)
		snprintf(said, sizeof(said), "%s%.*s|%llu-%llu", p.without ? "!" : "", (int)p.file_len,
			 p.file ? p.file : "", (unsigned long long)p.low, (unsigned long long)p.high);
	else
		snprintf(said, sizeof(said), "%s%.*s|%.*s|%s", p.without ? "!" : "", (int)p.file_len,
			 p.file ? p.file : "", (int)p.source_len, p.source ? p.source : "", p.glob);
	return said;
}

TEST(parts)
{
	assert_string_equal(taken("f"), "||f");
	assert_string_equal(taken("!f"), "!||f");
	assert_string_equal(taken("libz.so.1!deflate*"), "libz.so.1||deflate*");
	assert_string_equal(taken("!libz.so!deflate.c:deflate*"), "!libz.so|deflate.c|deflate*");
	assert_string_equal(taken("a.c:"), "|a.c|");
	assert_string_equal(taken("ns::f"), "||ns::f");
	assert_string_equal(taken("a.cc:ns::f"), "|a.cc|ns::f");
	assert_string_equal(taken("f[abi:cxx11]"), "||f[abi:cxx11]");
	assert_string_equal(taken("operator!="), "||operator!=");
	assert_string_equal(taken("!ns::operator!"), "!||ns::operator!");
	assert_string_equal(taken("0x1000-0x20Af"), "|4096-8367");
	assert_string_equal(taken("!libz.so!0X0-0xffffffffffffffff"), "!libz.so|0-18446744073709551615");
}

TEST(what_is_none)
{
	static const char *const wrong[] = {
		"", "!", "lib!", "!lib!", "0x", "0x1", "0x1-", "0x1-0x", "0x1-0x1", "0x2-0x1", "0x1-0x2x", "0x1:0x2",
		"0x1-2", "0x1-0x10000000000000000", "0x10000000000000000-0x1",
	};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(taken(wrong[i]), "none") != 0)
			fail_msg("'%s' is taken for %s", wrong[i], taken(wrong[i]));
}

static bool names(const char *text, const char *path, const char *soname)
{
	return hodo_function_file_is(text, strlen(text), path, soname);
}

TEST(files)
{
	assert_true(names("libz.so", "/usr/lib/libz.so.1.2", ""));
	assert_true(names("libz.so", "libz.so", ""));
	assert_false(names("libz.so", "/usr/lib/libzstd.so.1", ""));
	assert_true(names("libz.so", "/opt/other-9", "libz.so.1"));
	assert_false(names("libz.so", "/opt/other-9", "libzstd.so.1"));
	assert_true(names("libz*", "/usr/lib/libzstd.so.1", ""));
	assert_true(names("/a/b", "/a/b", ""));
	assert_false(names("/a/b", "/c/b", ""));
	assert_false(names("", "/c/b", ""));
}
