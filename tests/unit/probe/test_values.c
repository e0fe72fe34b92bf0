/* SPDX-License-Identifier: MIT */
/*
 * test_values.c - the fetch programs of probes find in a running program what the program itself prints: in C and
 * C++, with and without optimisation, compiled by GCC and by Clang.
 */
#include <lib/unit.h>
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "fetched.h"

static bool may_miss;
static unsigned missed;

/* Whether a space, a field's name and = come next. */
static bool is_field(const char *at, const char *end)
{
	if (at == end || *at++ != ' ')
		return false;
	while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	return at < end && *at == '=';
}

/* The lines are equal, except for values that the compiler removed, as it may where it optimises. */
static bool same_line(const char *found, size_t len, const char *expected, size_t expected_len)
{
	const char *f = found, *e = expected, *f_end = found + len, *e_end = expected + expected_len;

	while (f < f_end && e < e_end) {
		size_t gone = may_miss && f_end - f >= 9 && memcmp(f, "? removed", 9) == 0 ? 9 :
			      may_miss && f_end - f >= 10 && memcmp(f, "? computed", 10) == 0 ? 10 : 0;

		if (!gone && *f != *e)
			return false;
		if (!gone) {
			f++;
			e++;
			continue;
		}
		missed++;
		for (f += gone; e < e_end && !is_field(e, e_end);)
			e++;
	}
	return f == f_end && e == e_end;
}

/* Compares line by line, so as to show the first line that differs. Returns the number of lines. */
static unsigned compare(const char *found, const char *expected)
{
	unsigned lines = 0;

	while (*found && *expected) {
		size_t f = strcspn(found, "\n"), e = strcspn(expected, "\n");

		if (!same_line(found, f, expected, e))
			fail_msg("found     %.*s\nexpected  %.*s", (int)f, found, (int)e, expected);
		found += f + 1;
		expected += e + 1;
		lines++;
	}
	assert_string_equal(found, expected);
	return lines;
}

static void check(const char *program, const char *source, unsigned least)
{
	struct hodo_text expected = { 0 }, found = { 0 };
	unsigned lines = 0;

	fetched_run(program, source, &expected, &found);
	lines = compare(hodo_text_string(&found), hodo_text_string(&expected));
	assert_true(lines >= least);
	hodo_text_free(&expected);
	hodo_text_free(&found);
}

TEST(c_without_optimisation)
{
	check(VALUES_C_O0, VALUES_SOURCE, 24);
}

TEST(c_with_optimisation)
{
	check(VALUES_C_O2, VALUES_SOURCE, 24);
}

#ifdef VALUES_CLANG_O0
TEST(clang_without_optimisation)
{
	check(VALUES_CLANG_O0, VALUES_SOURCE, 24);
}

TEST(clang_with_optimisation)
{
	may_miss = true;
	check(VALUES_CLANG_O2, VALUES_SOURCE, 24);
	may_miss = false;
	assert_in_range(missed, 0, 20); /* of 110 */
}
#endif

TEST(cxx_without_optimisation)
{
	check(VALUES_CXX_O0, VALUES_SOURCE, 12);
}

TEST(cxx_with_optimisation)
{
	check(VALUES_CXX_O2, VALUES_SOURCE, 12);
}
