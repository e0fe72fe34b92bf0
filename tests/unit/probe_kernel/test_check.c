/* SPDX-License-Identifier: MIT */
/* test_check.c - which programs of probes hodo.ko accepts, and which it refuses. */
#include <lib/unit.h>

#include <string.h>

#include <core/kprobe.h>

static union {
	struct hodo_kprobe k;
	uint8_t bytes[HODO_KPROBE_SIZE_MAX + 8];
} m;
static const char *text[HODO_FIELDS_MAX + 2];

static void finish(uint32_t values, const char *names, size_t len)
{
	m.k.values = values;
	memcpy(&m.k.value[values], names, len);
	m.k.size = (uint32_t)((uint8_t *)&m.k.value[values] - m.bytes + len);
}

#define FINISH(values, names) finish(values, names, sizeof(names))

static int make(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	m.k.value[0] = (struct hodo_kprobe_value){ .type = HODO_TYPE_I32, .from = HODO_KPROBE_ARGUMENT, .number = 5,
						   .steps = 2, .load = 4, .shift = 3, .bits = 29,
						   .offset = { 8, -16, 24 } };
	m.k.value[1] = (struct hodo_kprobe_value){ .type = HODO_TYPE_STR, .from = HODO_KPROBE_STACK, .number = 1,
						   .steps = 6, .text_max = 1023, .offset = { 1, 2, 3, 4, 5, 6, 7 } };
	FINISH(2, "vfs_read\0vfs_read%return\0a\0_b2");
	return 0;
}

static bool taken(void)
{
	return hodo_kprobe_check(&m.k, m.k.size, text);
}

TEST(a_whole_one, .setup = make)
{
	assert_true(taken());
	assert_string_equal(text[0], "vfs_read");
	assert_string_equal(text[1], "vfs_read%return");
	assert_string_equal(text[2], "a");
	assert_string_equal(text[3], "_b2");
	assert_int_equal(hodo_kprobe_bytes(&m.k), 4 + 2 + 1023);
	memset(&m, 0, sizeof(m));
	FINISH(0, "f\0e");
	assert_true(taken());
}

TEST(sizes, .setup = make)
{
	assert_false(hodo_kprobe_check(&m.k, m.k.size - 1, text));
	m.k.size--;
	assert_false(taken());
	m.k.size += 2;
	assert_false(taken());
	m.k.size = sizeof(m.k) - 1;
	assert_false(taken());
	m.k.size = HODO_KPROBE_SIZE_MAX + 1;
	assert_false(taken());
	make(NULL);
	m.k.values = 33;
	assert_false(taken());
	m.k.values = UINT32_MAX;
	assert_false(taken());
}

TEST(names, .setup = make)
{
	static const char *const bad[] = { "f\0e\0a\0a", "f\0e\0a\0", "\0e\0a\0b", "f\0\0a\0b", "f\0e\0a\0002b",
					   "f\0e/x\0a\0b", "f\0e:x\0a\0b", "f x\0e\0a\0b", "f\0e\0a b\0c",
					   "f\0e\x80\0a\0b" };
	static const size_t len[] = { 8, 7, 7, 7, 9, 10, 10, 10, 10, 9 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		finish(2, bad[i], len[i]);
		if (taken())
			fail_msg("names %zu", i);
	}
	FINISH(2, "f\0e\0a\0b\0c");
	assert_false(taken());
}

#define REFUSED(change)                 \
	do {                            \
		make(NULL);             \
		m.k.change;             \
		if (taken())            \
			fail_msg(#change); \
	} while (0)

TEST(each_number)
{
	REFUSED(flags = 2);
	REFUSED(reserved = 1);
	REFUSED(value[0].type = HODO_TYPE_F64);
	REFUSED(value[0].type = HODO_TYPE_BYTES);
	REFUSED(value[0].type = HODO_TYPE_ARRAY | HODO_TYPE_U8);
	REFUSED(value[0].type = 0);
	REFUSED(value[0].from = 0);
	REFUSED(value[0].from = 6);
	REFUSED(value[0].from = HODO_KPROBE_RETURNED);
	REFUSED(value[0].number = 6);
	REFUSED(value[0].steps = 7);
	REFUSED(value[0].steps = 1);
	REFUSED(value[0].load = 3);
	REFUSED(value[0].load = 16);
	REFUSED(value[0].shift = 4);
	REFUSED(value[0].bits = 30);
	REFUSED(value[0].bits = 0);
	REFUSED(value[0].bits = 255);
	REFUSED(value[0].reserved = 1);
	REFUSED(value[0].text_max = 1);
	REFUSED(value[0].offset[3] = 1);
	REFUSED(value[1].number = 64);
	REFUSED(value[1].load = 1);
	REFUSED(value[1].text_max = 0);
	REFUSED(value[1].text_max = 1024);
	REFUSED(value[1].bits = 1);
	make(NULL);
	m.k.offset = 1;
	assert_true(taken());
	m.k.flags = HODO_KPROBE_RETURN;
	assert_false(taken());
	m.k.offset = 0;
	m.k.value[0].from = HODO_KPROBE_DURATION;
	assert_false(taken());
	m.k.value[0].number = 0;
	assert_true(taken());
}

TEST(all_values_together)
{
	static const char names[] = "f\0e\0a\0b\0c\0d\0e\0g\0h\0i";

	memset(&m, 0, sizeof(m));
	for (int i = 0; i < 8; i++)
		m.k.value[i] = (struct hodo_kprobe_value){ .type = HODO_TYPE_STR, .from = HODO_KPROBE_ARGUMENT,
							   .text_max = 1022 };
	FINISH(8, names);
	assert_true(taken());
	m.k.value[7].text_max = 1023;
	assert_false(taken());
}
