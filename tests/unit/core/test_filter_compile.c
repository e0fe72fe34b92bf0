/* SPDX-License-Identifier: MIT */
/* test_filter_compile.c - what the compiler refuses, its messages, and its limits. */
#include <core/filter.h>
#include <read/event/filter_compile.h>
#include "filter_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

static int compile(const char *expr, char *error)
{
	static uint8_t code[HODO_FILTER_MAX];
	size_t len = 0;
	int rc = hodo_filter_compile(expr, code, sizeof(code), &len, error, 128);

	if (rc == 0)
		assert_int_equal(hodo_filter_verify(code, len), 0);
	return rc;
}

static const struct {
	const char *expr;
	const char *error;
} refused[] = {
	{ "", "expected a value at column 1" },
	{ "  ", "expected a value at column 3" },
	{ "shard ==", "expected a value at column 9" },
	{ "(shard == 3", "expected ')' at column 12" },
	{ "(shard == 3]", "expected ')' before ']' at column 12" },
	{ "data[3", "expected ']' at column 7" },
	{ "data[]", "expected a value before ']' at column 6" },
	{ "data[\"x\"]", "'[' needs an integer at column 5" },
	{ "data[1.5] == 3", "'[' needs an integer at column 5" },
	{ "(data)[1]", "expected an operator before '[' at column 7" },
	{ "$shard == 3", "there is no '$shard' (but $tid $pid $cpu $comm $duration $off_cpu) at column 1" },
	{ "has($x)", "there is no '$x' (but $tid $pid $cpu $comm $duration $off_cpu) at column 5" },
	{ "$comm == 3", "'==' needs two numbers or two strings at column 7" },
	{ "$pid =~ \"4*\"", "'=~' needs strings at column 6" },
	{ "len(3)", "expected a field's name before '3' at column 5" },
	{ "n > 10000000000s", "number too large at column 5" },
	{ "n > 0x5ms", "not a number: '0x5ms' at column 5" },
	{ "n > 5min", "not a number: '5min' at column 5" },
	{ "shard = 3", "'=' (write '==' for equal) at column 7" },
	{ "shard 3", "expected an operator before '3' at column 7" },
	{ "shard == 3)", "expected an operator before ')' at column 11" },
	{ "== 3", "expected a value before '==' at column 1" },
	{ "()", "expected a value before ')' at column 2" },
	{ "a ? b", "expected ':' at column 6" },
	{ "a ? : b", "expected a value before ':' at column 5" },
	{ "a : b", "expected an operator before ':' at column 3" },
	{ "key == \"user", "missing closing \" at column 8" },
	{ "key == \"user\\\"", "missing closing \" at column 8" },
	{ "c == 'x", "missing closing ' at column 6" },
	{ "c == ''", "'' holds one character (put strings in \"\") at column 6" },
	{ "c == 'user'", "'' holds one character (put strings in \"\") at column 6" },
	{ "key =~ \"a\\*\"", "unknown escape (write \\\\ for a backslash) at column 10" },
	{ "key == \"\\xg\"", "unknown escape (write \\\\ for a backslash) at column 9" },
	{ "key == \"\\400\"", "unknown escape (write \\\\ for a backslash) at column 9" },
	{ "key == \"\\", "unknown escape (write \\\\ for a backslash) at column 9" },
	{ "n == 08", "not a number: '08' at column 6" },
	{ "n == 0x", "not a number: '0x' at column 6" },
	{ "n == 0xg", "not a number: '0xg' at column 6" },
	{ "n == 12abc", "not a number: '12abc' at column 6" },
	{ "n == 1uu", "not a number: '1uu' at column 6" },
	{ "n == 4K", "not a number: '4K' at column 6" },
	{ "n == 1.2.3", "not a number: '1.2.3' at column 6" },
	{ "n == 1e", "not a number: '1e' at column 6" },
	{ "n == 18446744073709551616", "number too large at column 6" },
	{ "n == 0x10000000000000000", "number too large at column 6" },
	{ "n == 1e999", "number too large at column 6" },
	{ "a @ b", "unexpected '@' at column 3" },
	{ "a $ b", "unexpected '$' at column 3" },
	{ "a == \xc3\xa9", "unexpected byte 0xc3 at column 6" },
	{ "a == \x01", "unexpected byte 0x01 at column 6" },
	{ "a, b", "unexpected ',' at column 2" },
	{ "key == NULL", "nothing can be compared with NULL (use has(NAME)) at column 8" },
	{ "strlen(key) > 3", "no such function (the functions are has(NAME) and len(NAME)) at column 1" },
	{ "has(3)", "expected a field's name before '3' at column 5" },
	{ "has(", "expected a field's name at column 5" },
	{ "has(a", "expected ')' at column 6" },
	{ "has()", "expected a field's name before ')' at column 5" },
	{ "\"a\" + 1", "'+' needs numbers at column 5" },
	{ "-\"a\"", "'-' needs a number at column 1" },
	{ "~1.5", "'~' needs an integer at column 1" },
	{ "1.5 % 2", "'%' needs integers at column 5" },
	{ "key =~ 5", "'=~' needs strings at column 5" },
	{ "5 !~ \"x\"", "'!~' needs strings at column 3" },
	{ "\"a\" == 1", "'==' needs two numbers or two strings at column 5" },
	{ "a == b\n\"x\ny\"", "expected an operator before '\"x?y\"' at column 8" },
};

TEST(test_errors)
{
	char error[128];
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		memset(error, 'x', sizeof(error));
		if (compile(refused[i].expr, error) != -EINVAL)
			fail_msg("not refused: %s", refused[i].expr);
		if (!event_wants_floats(error))
			assert_string_equal(error, refused[i].error);
	}
}

TEST(test_error_buffer_is_respected)
{
	static uint8_t code[HODO_FILTER_MAX];
	char error[8];
	size_t len;

	memset(error, 'x', sizeof(error));
	assert_int_equal(hodo_filter_compile("(", code, sizeof(code), &len, error, 5), -EINVAL);
	assert_string_equal(error, "expe");
	assert_int_equal(error[5], 'x');
	assert_int_equal(hodo_filter_compile("(", code, sizeof(code), &len, NULL, 0), -EINVAL);
}

static char *repeat(char *to, const char *text, unsigned int n)
{
	size_t len = strlen(text);

	for (; n > 0; n--, to += len)
		memcpy(to, text, len);
	return to;
}

/* front n times, middle, behind n times. */
static char *nest(const char *front, const char *middle, const char *behind, unsigned int n)
{
	char *text = calloc(1, n * (strlen(front) + strlen(behind)) + strlen(middle) + 1);

	repeat(repeat(repeat(text, front, n), middle, 1), behind, n);
	return text;
}

static void check_nest(const char *front, const char *middle, const char *behind, unsigned int n, int want,
		       const char *message)
{
	char *expr = nest(front, middle, behind, n), error[128] = "";
	int rc = compile(expr, error);

	if (rc != want || (message && !strstr(error, message)))
		fail_msg("%s x %u: %d %s", front, n, rc, error);
	free(expr);
}

TEST(test_limits)
{
	/* Limits of nesting, in the text and on the stack. */
	check_nest("(", "a", ")", HODO_FILTER_NESTING_MAX - 1, 0, NULL);
	check_nest("(", "a", ")", HODO_FILTER_NESTING_MAX, -E2BIG, "too deep at column 65");
	check_nest("!", "a", "", HODO_FILTER_NESTING_MAX - 1, 0, NULL);
	check_nest("!", "a", "", HODO_FILTER_NESTING_MAX, -E2BIG, "too deep");
	check_nest("1 + (", "a", ")", HODO_FILTER_STACK_MAX / 2, 0, NULL);
	check_nest("1+(", "a", ")", HODO_FILTER_STACK_MAX - 1, 0, NULL);
	check_nest("1+(", "a", ")", HODO_FILTER_STACK_MAX, -E2BIG, "too deep");
	check_nest("a?1:", "a", "", HODO_FILTER_STACK_MAX / 2 - 1, 0, NULL);
	check_nest("a?1:", "a", "", HODO_FILTER_STACK_MAX / 2, -E2BIG, "too deep at column 66");
	check_nest("a?1:", "a", "", 100, -E2BIG, "too deep");
	check_nest("(", "", "", 2000, -E2BIG, "too deep");
	/* Limits of length, of the text and of the program. */
	check_nest("a+", "a", "", 1023, 0, NULL);
	check_nest("a+", "a ", "", 1023, 0, NULL);
	check_nest("a+", "a  ", "", 1023, -E2BIG, "too long");
	check_nest("999+", "a", "", 500, -E2BIG, "too long");
	check_nest(" ", "a", "", 1000000, -E2BIG, "too long");
}

TEST(test_names_limit)
{
	char expr[512] = "", error[128];
	unsigned int i;

	for (i = 0; i < HODO_FILTER_NAMES_MAX; i++)
		sprintf(expr + strlen(expr), "n%u + ", i);
	sprintf(expr + strlen(expr), "n0");
	assert_int_equal(compile(expr, error), 0);
	strcat(expr, " + one_more");
	assert_int_equal(compile(expr, error), -E2BIG);
	assert_non_null(strstr(error, "more than 32 names at column "));
}

TEST(test_long_name)
{
	char expr[HODO_NAME_MAX + 2], error[128];

	memset(expr, 'n', sizeof(expr));
	expr[HODO_NAME_MAX] = '\0';
	assert_int_equal(compile(expr, error), 0);
	expr[HODO_NAME_MAX] = 'n';
	expr[HODO_NAME_MAX + 1] = '\0';
	assert_int_equal(compile(expr, error), -E2BIG);
	assert_string_equal(error, "name too long at column 1");
}

TEST(test_small_buffer)
{
	static uint8_t code[HODO_FILTER_MAX], whole[HODO_FILTER_MAX];
	size_t size, len = 0, need;
	char error[128];

	assert_int_equal(hodo_filter_compile("a == 3", whole, sizeof(whole), &need, error, sizeof(error)), 0);
	for (size = 0; size < need; size++) {
		uint8_t *exact = malloc(size ? size : 1);

		assert_int_equal(hodo_filter_compile("a == 3", exact, size, &len, error, sizeof(error)),
				 -E2BIG);
		free(exact);
	}
	assert_int_equal(hodo_filter_compile("a == 3", code, need, &len, error, sizeof(error)), 0);
	assert_int_equal(len, need);
	assert_memory_equal(code, whole, need);
}
