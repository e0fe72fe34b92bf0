/* SPDX-License-Identifier: MIT */
/*
 * test_values.c - what the fetch programs of probes find in a program that runs is what the program itself says: of C
 * and C++, with and without optimisation.
 */
#include <lib/unit.h>
#include <string.h>

#include "fetched.h"

/* Line by line, so that the first that differs is seen. How many there are. */
static unsigned compare(const char *found, const char *expected)
{
	unsigned lines = 0;

	while (*found && *expected) {
		size_t f = strcspn(found, "\n"), e = strcspn(expected, "\n");

		if (f != e || memcmp(found, expected, f) != 0)
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

TEST(cxx_without_optimisation)
{
	check(VALUES_CXX_O0, VALUES_SOURCE, 12);
}

TEST(cxx_with_optimisation)
{
	check(VALUES_CXX_O2, VALUES_SOURCE, 12);
}
