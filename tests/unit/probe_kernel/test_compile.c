/* SPDX-License-Identifier: MIT */
/* test_compile.c - the program that is made of a probe's text and the kernel's types; the message about a probe
 * that is not possible. */
#include <lib/unit.h>

#include <string.h>

#include <bpf/btf.h>
#include <core/kprobe.h>
#include <probe/kernel/kprobe.h>

#include "types.h"

static struct btf *types;
static union {
	struct hodo_kprobe k;
	uint8_t bytes[HODO_KPROBE_SIZE_MAX];
} made;
static const char *names[HODO_FIELDS_MAX + 2];
static struct hodo_why why;

static int make_types(void **state)
{
	(void)state;
	types = kprobe_types();
	return types == NULL;
}

static int free_types(void **state)
{
	(void)state;
	btf__free(types);
	return 0;
}

TEST_PROGRAM(.setup = make_types, .teardown = free_types);

static int compile(const char *text, const struct btf *btf)
{
	struct hodo_kprobe_text t;
	int err = hodo_kprobe_parse(&t, text, &why);

	if (!err) {
		err = hodo_kprobe_compile(&t, btf, &made.k, &why);
		hodo_kprobe_text_free(&t);
	}
	return err;
}

static void take(const char *text)
{
	why.text[0] = '\0';
	if (compile(text, types) != 0)
		fail_msg("%s: %s", text, why.text);
	assert_true(hodo_kprobe_check(&made.k, made.k.size, names));
}

static void refuse(const char *text, const char *reason)
{
	assert_true(compile(text, types) < 0);
	if (!strstr(why.text, reason))
		fail_msg("%s: '%s', without '%s'", text, why.text, reason);
}

#define VALUE(...) ((struct hodo_kprobe_value){ __VA_ARGS__ })
#define ARGUMENT(n) .from = HODO_KPROBE_ARGUMENT, .number = (n)

static void assert_value(uint32_t i, const char *name, struct hodo_kprobe_value v)
{
	assert_true(i < made.k.values);
	assert_string_equal(names[2 + i], name);
	assert_memory_equal(&made.k.value[i], &v, sizeof(v));
}

TEST(arguments_are_registers)
{
	take("kprobe:read_it(count, buf, file:ptr, size=count:u32, $arg3)");
	assert_string_equal(names[0], "read_it");
	assert_string_equal(names[1], "read_it");
	assert_int_equal(made.k.values, 5);
	assert_value(0, "count", VALUE(.type = HODO_TYPE_U64, ARGUMENT(2)));
	assert_value(1, "buf", VALUE(.type = HODO_TYPE_STR, ARGUMENT(1), .text_max = HODO_KPROBE_TEXT_MAX));
	assert_value(2, "file", VALUE(.type = HODO_TYPE_PTR, ARGUMENT(0)));
	assert_value(3, "size", VALUE(.type = HODO_TYPE_U32, ARGUMENT(2)));
	assert_value(4, "arg3", VALUE(.type = HODO_TYPE_U64, ARGUMENT(2)));
}

TEST(members_are_followed)
{
	take("kprobe:read_it(file->f_path.dentry->d_name.name, file->f_path.dentry->d_parent->d_name.len, *pos, file.f_mode, "
	     "file->f_other, pos[2], mode=(*file).f_mode)");
	assert_value(0, "name", VALUE(.type = HODO_TYPE_STR, ARGUMENT(0), .steps = 2, .offset = { 0, 16 },
				      .text_max = HODO_KPROBE_TEXT_MAX));
	assert_value(1, "len", VALUE(.type = HODO_TYPE_U32, ARGUMENT(0), .steps = 2, .load = 4,
				     .offset = { 0, 24, 12 }));
	assert_value(2, "pos", VALUE(.type = HODO_TYPE_I64, ARGUMENT(3), .load = 8));
	assert_value(3, "f_mode", VALUE(.type = HODO_TYPE_U32, ARGUMENT(0), .load = 4, .offset = { 16 }));
	assert_value(4, "f_other", VALUE(.type = HODO_TYPE_I32, ARGUMENT(0), .load = 4, .offset = { 16 }));
	assert_value(5, "pos_2", VALUE(.type = HODO_TYPE_I64, ARGUMENT(3), .load = 8, .offset = { 16 }));
	assert_value(6, "mode", VALUE(.type = HODO_TYPE_U32, ARGUMENT(0), .load = 4, .offset = { 16 }));
}

TEST(arrays_bits_and_enums)
{
	take("kprobe:read_it(file->comm, file->comm[1], file->raw[3], file->numbers[2], file->open, file->f_state, "
	     "file->f_first, file->f_second, file->f_signed, file->bytes, file->raw:str)");
	assert_value(0, "comm", VALUE(.type = HODO_TYPE_STR, ARGUMENT(0), .offset = { 24 }, .text_max = 16));
	assert_value(1, "comm_1", VALUE(.type = HODO_TYPE_I8, ARGUMENT(0), .load = 1, .offset = { 25 }));
	assert_value(2, "raw_3", VALUE(.type = HODO_TYPE_U8, ARGUMENT(0), .load = 1, .offset = { 43 }));
	assert_value(3, "numbers_2", VALUE(.type = HODO_TYPE_I16, ARGUMENT(0), .load = 2, .offset = { 48 }));
	assert_value(4, "open", VALUE(.type = HODO_TYPE_BOOL, ARGUMENT(0), .load = 1, .offset = { 50 }));
	assert_value(5, "f_state", VALUE(.type = HODO_TYPE_I32, ARGUMENT(0), .load = 4, .offset = { 52 }));
	assert_value(6, "f_first", VALUE(.type = HODO_TYPE_U32, ARGUMENT(0), .load = 1, .bits = 3, .offset = { 20 }));
	assert_value(7, "f_second", VALUE(.type = HODO_TYPE_U32, ARGUMENT(0), .load = 2, .shift = 3, .bits = 7,
					  .offset = { 20 }));
	assert_value(8, "f_signed", VALUE(.type = HODO_TYPE_I32, ARGUMENT(0), .load = 1, .shift = 2, .bits = 5,
					  .offset = { 21 }));
	assert_value(9, "bytes", VALUE(.type = HODO_TYPE_PTR, ARGUMENT(0), .load = 8, .offset = { 64 }));
	assert_value(10, "raw", VALUE(.type = HODO_TYPE_STR, ARGUMENT(0), .offset = { 40 }, .text_max = 4));
}

TEST(places_of_arguments)
{
	take("kprobe:write_it(text, last->f_mode)");
	assert_value(1, "f_mode", VALUE(.type = HODO_TYPE_U32, ARGUMENT(3), .load = 4, .offset = { 16 }));
	take("kprobe:many(f, g, h->flags)");
	assert_value(0, "f", VALUE(.type = HODO_TYPE_I32, ARGUMENT(5)));
	assert_value(1, "g", VALUE(.type = HODO_TYPE_I32, .from = HODO_KPROBE_STACK, .number = 1));
	assert_value(2, "flags", VALUE(.type = HODO_TYPE_I32, .from = HODO_KPROBE_STACK, .number = 2, .load = 4));
	refuse("kprobe:write_it(by_value)", "is not passed in one word");
	refuse("kprobe:many%return(h)", "on the stack, which is gone");
}

TEST(returns)
{
	take("kprobe:read_it%return");
	assert_string_equal(names[1], "read_it%return");
	assert_int_equal(made.k.flags, HODO_KPROBE_RETURN);
	assert_int_equal(made.k.values, 2);
	assert_value(0, "retval", VALUE(.type = HODO_TYPE_I64, .from = HODO_KPROBE_RETURNED));
	assert_value(1, "duration", VALUE(.type = HODO_TYPE_U64, .from = HODO_KPROBE_DURATION));
	take("kprobe:write_it%return");
	assert_int_equal(made.k.values, 1);
	take("kprobe:many%return($retval, a)");
	assert_value(0, "retval", VALUE(.type = HODO_TYPE_I32, .from = HODO_KPROBE_RETURNED));
	refuse("kprobe:write_it%return($retval)", "write_it returns nothing");
	refuse("kprobe:read_it($retval)", "known only where the function returns: use kprobe:read_it%return");
	refuse("kprobe:read_it($duration)", "known only where the function returns");
}

TEST(what_is_recorded_where_nothing_is_named)
{
	take("kprobe:read_it");
	assert_int_equal(made.k.values, 4);
	assert_value(1, "buf", VALUE(.type = HODO_TYPE_PTR, ARGUMENT(1)));
	take("kprobe:write_it");
	assert_int_equal(made.k.values, 2);
	assert_value(0, "text", VALUE(.type = HODO_TYPE_STR, ARGUMENT(0), .text_max = HODO_KPROBE_TEXT_MAX));
	assert_value(1, "last", VALUE(.type = HODO_TYPE_PTR, ARGUMENT(3)));
	take("kprobe:read_it()");
	assert_int_equal(made.k.values, 0);
	take("kprobe:unknown");
	assert_int_equal(made.k.values, 0);
}

TEST(inside_of_a_function)
{
	take("kprobe:read_it+0x12(%di, %r8, $stack0, %rip)");
	assert_int_equal(made.k.offset, 0x12);
	assert_string_equal(names[1], "read_it+0x12");
	assert_value(0, "di", VALUE(.type = HODO_TYPE_U64, .from = HODO_KPROBE_REGISTER, .number = 14));
	assert_value(1, "r8", VALUE(.type = HODO_TYPE_U64, .from = HODO_KPROBE_REGISTER, .number = 9));
	assert_value(2, "stack0", VALUE(.type = HODO_TYPE_U64, .from = HODO_KPROBE_STACK));
	assert_value(3, "rip", VALUE(.type = HODO_TYPE_U64, .from = HODO_KPROBE_REGISTER, .number = 16));
	refuse("kprobe:read_it+0x12(count)", "known only where the function begins");
	refuse("kprobe:read_it(%eax)", "there is no register %eax");
}

TEST(names_of_fields_differ)
{
	take("kprobe:read_it(count, count, file->f_path.dentry->d_name.name, file->f_path.dentry->d_parent->d_name.name, n=count, n=pos)");
	assert_string_equal(names[2], "count");
	assert_string_equal(names[3], "count2");
	assert_string_equal(names[4], "name");
	assert_string_equal(names[5], "name4");
	assert_string_equal(names[6], "n");
	assert_string_equal(names[7], "n6");
}

TEST(a_given_name_stays)
{
	take("kprobe:read_it(file->comm[1], second=file->comm[1], n=file->numbers[2])");
	assert_string_equal(names[2], "comm_1");
	assert_string_equal(names[3], "second");
	assert_string_equal(names[4], "n");
}

TEST(what_cannot_be_says_why)
{
	refuse("kprobe:read_it(cuont)", "read_it has no argument 'cuont': it has (file, buf, count, pos)");
	refuse("kprobe:read_it(file->f_pth)", "struct file has no member 'f_pth': did you mean f_path");
	refuse("kprobe:read_it(file->f_path.dentry->d_name)", "'d_name' is struct name: name a member of it");
	refuse("kprobe:read_it(file->numbers)", "'numbers' is an array: name an element, such as [0], of it");
	refuse("kprobe:read_it(file->numbers[3])", "'numbers' has 3 elements, the last is [2]");
	refuse("kprobe:read_it(count->x)", "'count' is unsigned long, not a struct");
	refuse("kprobe:read_it(count[1])", "neither an array nor a pointer");
	refuse("kprobe:read_it(file->f_path.mnt->x)", "does not say what type 'mnt' is");
	refuse("kprobe:read_it(file->gone->x)", "does not say what is in struct gone");
	refuse("kprobe:read_it(file->f_first.x)", "is a bit field");
	refuse("kprobe:read_it($arg9)", "$arg1 to $arg6");
	refuse("kprobe:read_it($nothing)", "'$nothing': there are $arg1");
	refuse("kprobe:read_it(count:u128)", "':u128' is not a format");
	refuse("kprobe:read_it(file->f_path.dentry->d_parent->d_parent->d_parent->d_parent->d_parent->d_parent->flags)",
	       "more than 6 pointers");
	refuse("kprobe:write_it(text, text, text, text, text, text, text, text)", "the limit is 8192");
}

TEST(without_types)
{
	assert_int_equal(compile("kprobe:read_it($arg1, $arg2:str, $arg3:i32)", NULL), 0);
	assert_true(hodo_kprobe_check(&made.k, made.k.size, names));
	assert_value(0, "arg1", VALUE(.type = HODO_TYPE_U64, ARGUMENT(0)));
	assert_value(1, "arg2", VALUE(.type = HODO_TYPE_STR, ARGUMENT(1), .text_max = HODO_KPROBE_TEXT_MAX));
	assert_int_equal(compile("kprobe:read_it%return", NULL), 0);
	assert_int_equal(made.k.values, 2);
	assert_true(compile("kprobe:read_it(count)", NULL) < 0);
	assert_non_null(strstr(why.text, "(BTF): use $arg1 to $arg6"));
	assert_true(compile("kprobe:read_it($arg1->x)", NULL) < 0);
	assert_non_null(strstr(why.text, "does not say what type '$arg1' is"));
}
