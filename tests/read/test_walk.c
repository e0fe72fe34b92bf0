/* SPDX-License-Identifier: MIT */
/* test_walk.c - hodo_read_walk and layouts. */
#define _GNU_SOURCE
#include "help.h"

#include <errno.h>

struct body {
	uint8_t data[4096];
	size_t len;
};

static void put(struct body *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void head(struct body *b, uint16_t id, uint64_t ticks)
{
	uint64_t word = id | ticks << 16;
	uint32_t tid = 7;

	put(b, &word, 8);
	put(b, &tid, 4);
}

static struct hodo_read_layouts *layouts(void)
{
	static const uint8_t fixed[] = { HODO_TYPE_I32, HODO_TYPE_U64 };
	static const uint8_t var[] = { HODO_TYPE_U8, HODO_TYPE_STR, HODO_TYPE_I16,
				       HODO_TYPE_I32 | HODO_TYPE_ARRAY, HODO_TYPE_BOOL };
	struct hodo_read_layouts *l = hodo_read_layouts_new();

	assert_non_null(l);
	assert_int_equal(hodo_read_layouts_add(l, 1, fixed, 2), 0);
	assert_int_equal(hodo_read_layouts_add(l, 2, var, 5), 0);
	assert_int_equal(hodo_read_layouts_add(l, 65535, NULL, 0), 0);
	return l;
}

static void fixed_event(struct body *b, uint64_t ticks)
{
	head(b, 1, ticks);
	put(b, "0123456789ab", 12);
}

static void var_event(struct body *b, uint64_t ticks, uint16_t text, uint32_t ints)
{
	static const uint8_t zero[512];

	head(b, 2, ticks);
	put(b, "x", 1);
	put(b, &text, 2);
	put(b, zero, text);
	put(b, "yz", 2);
	put(b, &ints, 4);
	put(b, zero, ints * 4);
	put(b, "\1", 1);
}

static struct hodo_read_walk walk(const struct hodo_read_layouts *l, const struct body *b, uint64_t begin,
				  uint64_t limit, uint64_t max)
{
	uint8_t *copy = malloc(b->len + !b->len); /* exactly as long: a sanitizer sees what is read beyond */
	struct hodo_read_walk w;

	assert_non_null(copy);
	memcpy(copy, b->data, b->len);
	assert_int_equal(hodo_read_walk(l, copy, b->len, begin, limit, max, &w), 0);
	free(copy);
	return w;
}

TEST(test_layouts)
{
	static const uint8_t i32 = HODO_TYPE_I32, bad = 99, text_array = HODO_TYPE_STR | HODO_TYPE_ARRAY;
	struct hodo_read_layouts *l = layouts();
	uint8_t many[HODO_CONTEXT_FIELDS_MAX + HODO_FIELDS_MAX + 1];

	memset(many, HODO_TYPE_U8, sizeof(many));
	assert_int_equal(hodo_read_layouts_add(l, 1, &i32, 1), -EEXIST);
	assert_int_equal(hodo_read_layouts_add(l, 0, &i32, 1), -EINVAL);
	assert_int_equal(hodo_read_layouts_add(l, 65536, &i32, 1), -EINVAL);
	assert_int_equal(hodo_read_layouts_add(l, 3, &bad, 1), -EINVAL);
	assert_int_equal(hodo_read_layouts_add(l, 3, &text_array, 1), -EINVAL);
	assert_int_equal(hodo_read_layouts_add(l, 3, many, sizeof(many)), -EINVAL);
	assert_int_equal(hodo_read_layouts_add(l, 3, many, 16), 0);
	assert_int_equal(hodo_read_layouts_add(l, 3, many, 16), 0); /* the same again */
	hodo_read_layouts_free(l);
	hodo_read_layouts_free(NULL);
}

TEST(test_whole)
{
	struct hodo_read_layouts *l = layouts();
	struct body b = { .len = 0 };
	struct hodo_read_walk w;

	w = walk(l, &b, 5, 10, 100);
	assert_int_equal(w.events, 0);
	assert_int_equal(w.timestamp_last, 5);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	fixed_event(&b, 5);
	var_event(&b, 6, 0, 0);
	var_event(&b, 6, 11, 3);
	head(&b, 65535, 9);
	w = walk(l, &b, 5, 9, 100);
	assert_int_equal(w.events, 4);
	assert_int_equal(w.bytes, b.len);
	assert_int_equal(w.timestamp_last, 9);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	w = walk(l, &b, 5, 9, 2);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.timestamp_last, 6);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	hodo_read_layouts_free(l);
}

/* Cut at every byte: the whole events before the cut, never one more. */
TEST(test_cut)
{
	struct hodo_read_layouts *l = layouts();
	struct body b = { .len = 0 };
	size_t ends[4];

	fixed_event(&b, 1);
	ends[0] = b.len;
	var_event(&b, 2, 5, 2);
	ends[1] = b.len;
	var_event(&b, 3, 0, 9);
	ends[2] = b.len;
	head(&b, 65535, 4);
	ends[3] = b.len;
	for (size_t len = 0; len <= ends[3]; len++) {
		struct body cut = b;
		unsigned whole = 0;
		struct hodo_read_walk w;

		while (whole < 4 && ends[whole] <= len)
			whole++;
		cut.len = len;
		w = walk(l, &cut, 0, 100, 100);
		assert_int_equal(w.events, whole);
		assert_int_equal(w.bytes, whole ? ends[whole - 1] : 0);
		assert_int_equal(w.stop, w.bytes == len ? HODO_READ_STOP_END : HODO_READ_STOP_SHORT);
	}
	hodo_read_layouts_free(l);
}

TEST(test_bad)
{
	struct hodo_read_layouts *l = layouts();
	struct body b = { .len = 0 };
	struct hodo_read_walk w;
	uint32_t huge = 0xffffffff;

	fixed_event(&b, 10);
	head(&b, 77, 11);
	w = walk(l, &b, 0, 100, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_ID);
	assert_int_equal(w.events, 1);
	b.len = 24;
	head(&b, 0, 11);
	assert_int_equal(walk(l, &b, 0, 100, 100).stop, HODO_READ_STOP_ID);
	b.len = 24;
	var_event(&b, 11, 4, 4);
	memcpy(b.data + 24 + 12 + 1 + 2 + 4 + 2, &huge, 4); /* elements: times their size beyond 32 bits */
	w = walk(l, &b, 0, 100, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_SHORT);
	assert_int_equal(w.events, 1);
	b.len = 24;
	fixed_event(&b, 9); /* back: a wrap, 78 hours later at 1 GHz */
	w = walk(l, &b, 0, 100, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_TIME);
	assert_int_equal(w.events, 1);
	assert_int_equal(w.timestamp_last, 10);
	w = walk(l, &b, 0, UINT64_MAX, 100);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.timestamp_last, (1ull << 48) + 9);
	assert_int_equal(walk(l, &b, UINT64_MAX - 5, UINT64_MAX, 100).stop, HODO_READ_STOP_TIME);
	assert_int_equal(hodo_read_walk(NULL, b.data, 1, 0, 1, 1, &w), -EINVAL);
	assert_int_equal(hodo_read_walk(l, NULL, 1, 0, 1, 1, &w), -EINVAL);
	assert_int_equal(hodo_read_walk(l, NULL, 0, 0, 1, 1, &w), 0);
	hodo_read_layouts_free(l);
}

/* Times across the 48-bit boundary. */
TEST(test_wrap)
{
	struct hodo_read_layouts *l = layouts();
	uint64_t begin = (3ull << 48) - 5;
	struct body b = { .len = 0 };
	struct hodo_read_walk w;

	fixed_event(&b, begin + 1);
	fixed_event(&b, begin + 8);
	w = walk(l, &b, begin, begin + 8, 100);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.timestamp_last, begin + 8);
	hodo_read_layouts_free(l);
}
