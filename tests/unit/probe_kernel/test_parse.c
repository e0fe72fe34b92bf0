/* SPDX-License-Identifier: MIT */
/* test_parse.c - the text of a probe in the kernel. */
#include <lib/unit.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <probe/kernel/kprobe.h>

static struct hodo_kprobe_text t;
static struct hodo_why why;

static int drop(void **state)
{
	(void)state;
	hodo_kprobe_text_free(&t);
	return 0;
}

static void take(const char *text)
{
	hodo_kprobe_text_free(&t);
	if (hodo_kprobe_parse(&t, text, &why) != 0)
		fail_msg("%s: %s", text, why.text);
}

static void refuse(const char *text, const char *reason)
{
	assert_int_equal(hodo_kprobe_parse(&t, text, &why), -EINVAL);
	if (!strstr(why.text, reason))
		fail_msg("%s: '%s', without '%s'", text, why.text, reason);
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
	assert_string_equal(t.spec.name, "vfs_read");
	assert_string_equal(t.event, "kprobe:vfs_read");
	assert_false(t.spec.listed || t.spec.place != HODO_SPEC_FUNCTION || t.spec.number);
	take("kprobe:a.isra.0+18");
	assert_string_equal(t.spec.name, "a.isra.0");
	assert_string_equal(t.event, "kprobe:a.isra.0+0x12");
	take("kprobe:f+010");
	assert_string_equal(t.event, "kprobe:f+0x8");
	take("kprobe:vfs_read%return()");
	assert_string_equal(t.event, "kprobe:vfs_read%return");
	assert_true(t.spec.listed && t.spec.place == HODO_SPEC_RETURN && t.spec.nvalues == 0);
	take("kprobe:set_operator(x)");
	assert_string_equal(t.spec.name, "set_operator");
}

/* Those that programs do not have; test_spec.c has the others. */
TEST(values, .teardown = drop)
{
	take("kprobe:f( a ,b = *c->d . e[010] : str,\n$duration, *$stack63, x=$arg1->y:x)");
	assert_int_equal(t.spec.nvalues, 5);
	assert_int_equal(t.spec.values[1].expr.step[2].element, 8);
	assert_int_equal(t.spec.values[1].expr.step[3].kind, HODO_SPEC_DEREF);
	assert_int_equal(t.spec.values[1].type, HODO_TYPE_STR);
	assert_int_equal(t.spec.values[2].expr.base, HODO_SPEC_DURATION);
	assert_int_equal(t.spec.values[3].expr.base, HODO_SPEC_STACK);
	assert_int_equal(t.spec.values[3].expr.number, 63);
	assert_int_equal(t.spec.values[4].type, HODO_TYPE_PTR);
}

TEST(what_is_none_says_why, .teardown = drop)
{
	char text[1024] = "kprobe:f(a";

	refuse("kprobe:", "no place: give FUNCTION");
	refuse("kprobe:vfs_*", "not for a pattern");
	refuse("kprobe:f+", "'f+' is not a function");
	refuse("kprobe:f+x", "'f+x' is not a function");
	refuse("kprobe:f+5%return", "'f+5' is not a function");
	refuse("kprobe:9", "'9' is not a function");
	refuse("kprobe:file.c:7", "'file.c:7' is not a function");
	refuse("kprobe:x!f", "'x!f' is not a function");
	refuse("kprobe:f(", "a ( and its ) must both be given");
	refuse("kprobe:f(a,)", "a value is missing");
	refuse("kprobe:f(a b)", "'b': values are separated by commas");
	refuse("kprobe:f(a->)", "is not the name of a member");
	refuse("kprobe:f(a[x])", "an element is a number");
	refuse("kprobe:f(a:)", "':' is not a format: the formats are str, bool, i8 to i64");
	refuse("kprobe:f(a:f32)", "':f32' is not a format");
	refuse("kprobe:f(a:bytes)", "':bytes' is not a format");
	refuse("kprobe:f(a=)", "a value is missing");
	refuse("kprobe:f(&a)", "'&a': a value is a name");
	refuse("kprobe:f((a, 3))", "a ( is not closed before ', 3)'");
	refuse("kprobe:f($args)", "'$args': there are $arg1 to $arg99, $retval, $duration and $stack0 to $stack63");
	refuse("kprobe:f($stack64)", "'$stack64': there are");
	refuse("kprobe:f(a)b", "then (VALUES)");
	refuse("kprobe:f(\xc3\xa4)", "ASCII characters only");
	for (int i = 0; i < 32; i++)
		strcat(text, ",a");
	strcat(text, ")");
	refuse(text, "more than 32 values");
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "kprobe:", 7);
	refuse(text, "name is too long");
}

TEST(two_of_one_event)
{
	struct hodo_kprobe_list list = { 0 };

	assert_int_equal(hodo_kprobe_list_add(&list, "kprobe:f(a)", &why), 0);
	assert_int_equal(hodo_kprobe_list_add(&list, "kprobe:f%return", &why), 0);
	assert_int_equal(hodo_kprobe_list_add(&list, "kprobe:f(b)", &why), -EEXIST);
	assert_string_equal(why.text, "there are two probes kprobe:f: give all values in one");
	assert_int_equal(list.n, 2);
	hodo_kprobe_list_free(&list);
}
