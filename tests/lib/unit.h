/* SPDX-License-Identifier: MIT */
/*
 * unit.h - a unit test: one or several files of TEST()s, linked with unit.c, which has the main() for all (in CMake:
 * hodo_unit_test()). In a test, cmocka's assert_…() say what must hold.
 *
 *	#include <lib/unit.h>
 *
 *	TEST(what_was_put_is_found)
 *	{
 *		assert_int_equal(get("a"), 1);
 *	}
 *
 * Tests run in the order of the source. A test that needs something made before names a function that makes it; as
 * everywhere in cmocka, such a function returns 0 for success.
 *
 *	TEST(what_is_full_takes_nothing, .setup = fill, .teardown = clear)
 *	TEST_PROGRAM(.setup = open_all, .teardown = close_all);		// before the first test, after the last one
 */
#ifndef HODO_TESTS_UNIT_H
#define HODO_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct unit_test {
	const char *name, *file;
	int line;
	void (*run)(void **state);
	int (*setup)(void **state), (*teardown)(void **state);
};

/* A section of pointers, which the linker joins: it has a program's tests, in any order. */
#define UNIT_ENTRY(name, test) \
	static const struct unit_test *const name __attribute__((section("hodo_unit_tests"), used)) = test

#define TEST(function, ...)                                                                            \
	static void function(void **state);                                                            \
	static const struct unit_test function##_test = {                                              \
		.name = #function, .file = __FILE__, .line = __LINE__, .run = function, __VA_ARGS__    \
	};                                                                                             \
	UNIT_ENTRY(function##_entry, &function##_test);                                                \
	static void function(void **state)

struct unit_program {
	/* Why the tests cannot be run here; NULL if they can. */
	const char *(*lacks)(void);
	int (*setup)(void **state), (*teardown)(void **state);
	/* What the program does if it has arguments; returns its exit status. */
	int (*command)(int argc, char **argv);
};
extern const struct unit_program unit_program;

#define TEST_PROGRAM(...) const struct unit_program unit_program = { __VA_ARGS__ }

#endif
