/* SPDX-License-Identifier: MIT */
/* test_why.c - why something failed. */
#include <lib/unit.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/escape.h>
#include <base/why.h>

static struct hodo_why why;

TEST(err_comes_back_with_its_text)
{
	assert_int_equal(hodo_why(&why, -EBADF, "%s: %d", "a", 7), -EBADF);
	assert_string_equal(why.text, "a: 7");
	assert_int_equal(hodo_why_errno(&why, ENOENT, "/a"), ENOENT);
	assert_string_equal(why.text, "/a: No such file or directory: check the path");
	assert_int_equal(hodo_why_system(&why, -ENOENT), -ENOENT);
	assert_string_equal(why.text, "No such file or directory: check the path");
	assert_int_equal(hodo_why_memory(&why), -ENOMEM);
	assert_non_null(strstr(why.text, "out of memory: "));
	assert_int_equal(hodo_why_text(&why, "a\x1b and more", 2, "no"), -EINVAL);
	assert_string_equal(why.text, "'a\\': no");
}

TEST(nobody_has_to_ask)
{
	assert_int_equal(hodo_why(NULL, -EBADF, "%s", "a"), -EBADF);
	assert_int_equal(hodo_why_errno(NULL, -EBADF, "%s", "a"), -EBADF);
	assert_int_equal(hodo_why_memory(NULL), -ENOMEM);
}

TEST(a_reason_is_said_in_more_words)
{
	hodo_why(&why, 0, "what");
	hodo_why(&why, 0, "%s and %s", why.text, why.text);
	assert_string_equal(why.text, "what and what");
	hodo_why_errno(&why, ENOENT, "(%s)", why.text);
	assert_string_equal(why.text, "(what and what): No such file or directory: check the path");
}

TEST(too_much_is_cut)
{
	char *much = malloc(2 * HODO_WHY_MAX);

	assert_non_null(much);
	memset(much, 'a', 2 * HODO_WHY_MAX - 1);
	much[2 * HODO_WHY_MAX - 1] = '\0';
	hodo_why(&why, 0, "%s", much);
	assert_int_equal(strlen(why.text), HODO_WHY_MAX - 1);
	hodo_why_errno(&why, ENOENT, "%s", much);
	assert_int_equal(strlen(why.text), HODO_WHY_MAX - 1);
	free(much);
}

static void keep(void *arg, const char *line)
{
	strncpy(arg, line, 99);
}

TEST(messages_are_printable)
{
	char out[100] = "";

	hodo_report(&(struct hodo_reporter){ keep, out }, "%s!", "a\x1b\xc3\xa4\n");
	assert_string_equal(out, "a\\x1b\\xc3\\xa4\\x0a!");
	hodo_printable(out, 8, "abcdefghijk");
	assert_string_equal(out, "abcd");
	hodo_printable(out, 6, "\n\n");
	assert_string_equal(out, "\\x0a");
	out[0] = 1;
	hodo_printable(out, 0, "a");
	assert_int_equal(out[0], 1);
}
