/* SPDX-License-Identifier: MIT */
/* test_parse.c - the text of a probe in the kernel. */
#include <lib/unit.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <probe/kernel/kprobe.h>

static struct hodo_kprobe_text t;
static char why[HODO_KPROBE_WHY_MAX];

static int drop(void **state)
{
	(void)state;
	hodo_kprobe_text_free(&t);
	return 0;
}

static void take(const char *text)
{
	hodo_kprobe_text_free(&t);
	if (hodo_kprobe_parse(&t, text, why, sizeof(why)) != 0)
		fail_msg("%s: %s", text, why);
}

static void refuse(const char *text, const char *reason)
{
	assert_int_equal(hodo_kprobe_parse(&t, text, why, sizeof(why)), -EINVAL);
	if (!strstr(why, reason))
		fail_msg("%s: '%s', without '%s'", text, why, reason);
}

TEST(what_is_a_probe)
{
	assert_true(hodo_kprobe_is("kprobe:vfs_read"));
	assert_false(hodo_kprobe_is("!kprobe:vfs_read"));
	assert_false(hodo_kprobe_is("kprobes:x"));
	assert_false(hodo_kprobe_is("kprobe"));
}

TEST(places, .teardown = drop)
{
	take("kprobe:vfs_read");
	assert_string_equal(t.function, "vfs_read");
	assert_string_equal(t.event, "kprobe:vfs_read");
	assert_false(t.listed || t.returns || t.offset);
	take("kprobe:a.isra.0+18");
	assert_string_equal(t.function, "a.isra.0");
	assert_string_equal(t.event, "kprobe:a.isra.0+0x12");
	take("kprobe:vfs_read%return()");
	assert_string_equal(t.event, "kprobe:vfs_read%return");
	assert_true(t.listed && t.returns && t.n == 0);
}

TEST(values, .teardown = drop)
{
	take("kprobe:f( a ,b = *c->d . e[3] : str,\n$retval, *%di, x=$arg1->y)");
	assert_int_equal(t.n, 5);
	assert_string_equal(t.value[0].root, "a");
	assert_null(t.value[0].name);
	assert_string_equal(t.value[1].name, "b");
	assert_string_equal(t.value[1].root, "c");
	assert_true(t.value[1].follows);
	assert_int_equal(t.value[1].nsteps, 3);
	assert_string_equal(t.value[1].step[0].member, "d");
	assert_string_equal(t.value[1].step[1].member, "e");
	assert_null(t.value[1].step[2].member);
	assert_int_equal(t.value[1].step[2].number, 3);
	assert_string_equal(t.value[1].type, "str");
	assert_string_equal(t.value[2].root, "$retval");
	assert_string_equal(t.value[3].root, "%di");
	assert_true(t.value[3].follows);
	assert_string_equal(t.value[4].step[0].member, "y");
}

TEST(what_is_none_says_why, .teardown = drop)
{
	char text[1024] = "kprobe:f(a";

	refuse("kprobe:", "a function's name is missing");
	refuse("kprobe:vfs_*", "not for a pattern");
	refuse("kprobe:f+", "an offset is +0x12");
	refuse("kprobe:f+x", "an offset is +0x12");
	refuse("kprobe:f+5%return", "takes no offset");
	refuse("kprobe:f(", "a value is an argument's name");
	refuse("kprobe:f(a", "a ',' or ')' is missing");
	refuse("kprobe:f(a,)", "a value is an argument's name");
	refuse("kprobe:f(a b)", "a ',' or ')' is missing: at 'b)'");
	refuse("kprobe:f(a->)", "a member's name is missing");
	refuse("kprobe:f(a[x])", "an element is [NUMBER]");
	refuse("kprobe:f(a[99999999999])", "an element is [NUMBER]");
	refuse("kprobe:f(a:)", "a type is missing");
	refuse("kprobe:f(a=)", "a value is missing after '='");
	refuse("kprobe:f(a)b", "then (VALUES)");
	refuse("kprobe:f(\xc3\xa4)", "ASCII characters only");
	for (int i = 0; i < 17; i++)
		strcat(text, ".b");
	refuse(text, "too many members");
	strcpy(text, "kprobe:f(a");
	for (int i = 0; i < 32; i++)
		strcat(text, ",a");
	refuse(text, "too many values");
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "kprobe:", 7);
	refuse(text, "name is too long");
}

TEST(two_of_one_event)
{
	struct hodo_kprobe_list list = { 0 };

	assert_int_equal(hodo_kprobe_list_add(&list, "kprobe:f(a)", why, sizeof(why)), 0);
	assert_int_equal(hodo_kprobe_list_add(&list, "kprobe:f%return", why, sizeof(why)), 0);
	assert_int_equal(hodo_kprobe_list_add(&list, "kprobe:f(b)", why, sizeof(why)), -EEXIST);
	assert_string_equal(why, "there are two probes kprobe:f: give all values in one");
	assert_int_equal(list.n, 2);
	hodo_kprobe_list_free(&list);
}
