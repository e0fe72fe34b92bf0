/* SPDX-License-Identifier: MIT */
/* test_walk.c - hodo_read_walk and layouts. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <errno.h>

#include <read/file/layout.h>

struct body {
	uint8_t data[4096];
	size_t len;
};

static void put(struct body *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void anchor(struct body *b, uint64_t ticks, uint32_t tid)
{
	b->len += record_anchor(b->data + b->len, ticks, tid, 0x7fff12345600);
}

static void head(struct body *b, uint16_t id, uint64_t ticks)
{
	b->len += record_event(b->data + b->len, id, ticks);
}

static void call(struct body *b, enum record_form form, uint64_t ticks)
{
	b->len += record_call(b->data + b->len, form, ticks, 0x400100, 0x7fff12345678);
}

static struct hodo_read_layouts *layouts(void)
{
	static const uint8_t fixed[] = { HODO_TYPE_I32, HODO_TYPE_U64 };
	static const uint8_t function[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };
	static const uint8_t var[] = { HODO_TYPE_U8, HODO_TYPE_STR, HODO_TYPE_I16,
				       HODO_TYPE_I32 | HODO_TYPE_ARRAY, HODO_TYPE_BOOL };
	struct hodo_read_layouts *l = hodo_read_layouts_new();

	assert_non_null(l);
	assert_int_equal(hodo_read_layouts_add(l, 1, fixed, 2), 0);
	assert_int_equal(hodo_read_layouts_add(l, 2, var, 5), 0);
	assert_int_equal(hodo_read_layouts_add(l, 65535, NULL, 0), 0);
	assert_int_equal(hodo_read_layouts_add(l, 30, function, 2), 0);
	assert_int_equal(hodo_read_layouts_add(l, 31, function, 2), 0);
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
	uint8_t *copy = malloc(b->len + !b->len); /* exactly as long: a sanitizer sees reads beyond it */
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
	static const uint8_t same_size[] = { HODO_TYPE_U32, HODO_TYPE_U64 };
	struct hodo_read_layouts *l = layouts();
	uint8_t many[HODO_CONTEXT_FIELDS_MAX + HODO_FIELDS_MAX + 1];

	memset(many, HODO_TYPE_U8, sizeof(many));
	assert_int_equal(hodo_read_layouts_add(l, 1, &i32, 1), -EEXIST);
	assert_int_equal(hodo_read_layouts_add(l, 1, same_size, 2), -EEXIST);
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

/* The classes of calls and returns must exist and have the right fields. */
TEST(test_layouts_calls)
{
	static const uint8_t others[][3] = { { HODO_TYPE_U32, HODO_TYPE_U32, HODO_TYPE_U32 },
					     { HODO_TYPE_U32, HODO_TYPE_PTR }, { HODO_TYPE_U64, HODO_TYPE_U32 },
					     { HODO_TYPE_PTR, HODO_TYPE_F32 } };
	struct hodo_read_layouts *l = layouts();
	struct hodo_read_walk w;
	struct body b = { .len = 0 };

	anchor(&b, 100, 1);
	call(&b, RECORD_CALL, 104);
	call(&b, RECORD_RETURN, 108);
	assert_int_equal(hodo_read_layouts_calls(NULL, 30, 31), -EINVAL);
	assert_int_equal(hodo_read_layouts_calls(l, 30, 32), -EINVAL);
	assert_int_equal(hodo_read_layouts_calls(l, 0, 31), -EINVAL);
	assert_int_equal(hodo_read_layouts_calls(l, 30, 2), -EINVAL);
	assert_int_equal(hodo_read_layouts_calls(l, 65535, 31), -EINVAL);
	/* Classes that have nothing but the same size. */
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_int_equal(hodo_read_layouts_add(l, 40 + i, others[i], i ? 2 : 3), 0);
		assert_int_equal(hodo_read_layouts_calls(l, 40 + i, 31), -EINVAL);
		assert_int_equal(hodo_read_layouts_calls(l, 30, 40 + i), -EINVAL);
	}
	w = walk(l, &b, 0, 1000, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_ID);
	assert_int_equal(w.events, 0);
	assert_int_equal(w.bytes, 16);
	assert_int_equal(hodo_read_layouts_calls(l, 30, 31), 0);
	w = walk(l, &b, 0, 1000, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.bytes, 32);
	assert_int_equal(w.timestamp_last, 108);
	hodo_read_layouts_free(l);
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
	anchor(&b, 20, 7);
	w = walk(l, &b, 5, 20, 100); /* an anchor alone is not an event */
	assert_int_equal(w.events, 0);
	assert_int_equal(w.bytes, 16);
	assert_int_equal(w.timestamp_last, 20);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	fixed_event(&b, 20);
	var_event(&b, 24, 0, 0);
	anchor(&b, 24, 8);
	var_event(&b, 24, 11, 3);
	head(&b, 65535, 36);
	w = walk(l, &b, 5, 36, 100);
	assert_int_equal(w.events, 4);
	assert_int_equal(w.bytes, b.len);
	assert_int_equal(w.timestamp_last, 36);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	w = walk(l, &b, 5, 35, 100);
	assert_int_equal(w.events, 3);
	assert_int_equal(w.timestamp_last, 24);
	assert_int_equal(w.stop, HODO_READ_STOP_TIME);
	w = walk(l, &b, 5, 36, 2);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.timestamp_last, 24);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	/* The packet begins between two times that records can have, after the time of the event. */
	w = walk(l, &b, 23, 23, 1);
	assert_int_equal(w.events, 1);
	assert_int_equal(w.timestamp_last, 23);
	hodo_read_layouts_free(l);
}

/* Cut at every byte: the walk reads the whole records before the cut, never one more. */
TEST(test_cut)
{
	struct hodo_read_layouts *l = layouts();
	struct body b = { .len = 0 };
	size_t ends[9];
	unsigned n = 0;

	assert_int_equal(hodo_read_layouts_calls(l, 30, 31), 0);
	anchor(&b, 0, 7);
	ends[n++] = b.len;
	fixed_event(&b, 4);
	ends[n++] = b.len;
	var_event(&b, 8, 5, 2);
	ends[n++] = b.len;
	call(&b, RECORD_CALL, 12);
	ends[n++] = b.len;
	call(&b, RECORD_RETURN, 16);
	ends[n++] = b.len;
	anchor(&b, 20, 8);
	ends[n++] = b.len;
	var_event(&b, 24, 0, 9);
	ends[n++] = b.len;
	head(&b, 65535, 28);
	ends[n++] = b.len;
	call(&b, RECORD_CALL, 28);
	ends[n++] = b.len;
	for (size_t len = 0; len <= b.len; len++) {
		struct body cut = b;
		unsigned whole = 0;
		struct hodo_read_walk w;

		while (whole < n && ends[whole] <= len)
			whole++;
		cut.len = len;
		w = walk(l, &cut, 0, 100, 100);
		assert_int_equal(w.events, whole - (whole > 0) - (whole > 5));
		assert_int_equal(w.bytes, whole ? ends[whole - 1] : 0);
		assert_int_equal(w.stop, w.bytes == len ? HODO_READ_STOP_END : HODO_READ_STOP_SHORT);
	}
	hodo_read_layouts_free(l);
}

/* Two whole records, to which a test adds what it tries. */
static struct body two(void)
{
	struct body b = { .len = 0 };

	anchor(&b, 40, 7);
	fixed_event(&b, 40);
	return b;
}
#define TWO (16 + 6 + 12)

/* The walk must end right after the first two records. */
static void ends_there(const struct hodo_read_layouts *l, const struct body *b, uint64_t limit,
		       enum hodo_read_stop stop)
{
	struct hodo_read_walk w = walk(l, b, 0, limit, 100);

	assert_int_equal(w.stop, stop);
	assert_int_equal(w.events, 1);
	assert_int_equal(w.bytes, TWO);
	assert_int_equal(w.timestamp_last, 40);
}

TEST(test_bad)
{
	struct hodo_read_layouts *l = layouts();
	struct hodo_read_walk w;
	struct body b = two();
	uint32_t huge = 0xffffffff;

	assert_int_equal(hodo_read_layouts_calls(l, 30, 31), 0);
	head(&b, 77, 44);
	ends_there(l, &b, 100, HODO_READ_STOP_ID);
	b = two();
	head(&b, 0, 44);
	ends_there(l, &b, 100, HODO_READ_STOP_ID);
	b = two();
	put(&b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16); /* never written */
	ends_there(l, &b, 100, HODO_READ_STOP_ID);
	for (unsigned bit = 29; bit < 32; bit++) {
		b = two();
		fixed_event(&b, 44);
		b.data[TWO + 3] |= (uint8_t)(1u << (bit - 24));
		ends_there(l, &b, UINT64_MAX, HODO_READ_STOP_ID);
	}
	b = two();
	var_event(&b, 44, 4, 4);
	memcpy(b.data + TWO + 6 + 1 + 2 + 4 + 2, &huge, 4); /* elements: their bytes need more than 32 bits */
	ends_there(l, &b, 100, HODO_READ_STOP_SHORT);
	b = two();
	fixed_event(&b, 36); /* earlier: read as the next time with these bits, a second later */
	ends_there(l, &b, 100, HODO_READ_STOP_TIME);
	w = walk(l, &b, 0, UINT64_MAX, 100);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.timestamp_last, (1ull << 29) + 36);
	assert_int_equal(hodo_read_walk(NULL, b.data, 1, 0, 1, 1, &w), -EINVAL);
	assert_int_equal(hodo_read_walk(l, NULL, 1, 0, 1, 1, &w), -EINVAL);
	assert_int_equal(hodo_read_walk(l, NULL, 0, 0, 1, 1, &w), 0);
	hodo_read_layouts_free(l);
}

TEST(test_anchors)
{
	struct hodo_read_layouts *l = layouts();
	struct hodo_read_walk w;
	struct body b = { .len = 0 };

	assert_int_equal(hodo_read_layouts_calls(l, 30, 31), 0);
	/* Without an anchor the thread is not known. */
	fixed_event(&b, 40);
	w = walk(l, &b, 40, 100, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_ID);
	assert_int_equal(w.bytes, 0);
	b.len = 0;
	call(&b, RECORD_RETURN, 40);
	assert_int_equal(walk(l, &b, 40, 100, 100).stop, HODO_READ_STOP_ID);
	/* Earlier than the packet, earlier than the record before it, and too late. */
	b = two();
	w = walk(l, &b, 44, 100, 100);
	assert_int_equal(w.stop, HODO_READ_STOP_TIME);
	assert_int_equal(w.bytes, 0);
	assert_int_equal(w.timestamp_last, 44);
	assert_int_equal(walk(l, &b, UINT64_MAX - 5, UINT64_MAX, 100).stop, HODO_READ_STOP_TIME);
	anchor(&b, 36, 7);
	fixed_event(&b, 48);
	ends_there(l, &b, UINT64_MAX, HODO_READ_STOP_TIME);
	b = two();
	anchor(&b, 104, 7);
	fixed_event(&b, 104);
	ends_there(l, &b, 103, HODO_READ_STOP_TIME);
	/* The event after events_max ends the walk before itself, not before its anchor. */
	w = walk(l, &b, 0, 104, 1);
	assert_int_equal(w.stop, HODO_READ_STOP_END);
	assert_int_equal(w.events, 1);
	assert_int_equal(w.bytes, TWO + 16);
	/* An anchor has all bits of its time: no gap is too long. */
	b = two();
	anchor(&b, (9ull << 58) + 8, 7);
	fixed_event(&b, (9ull << 58) + 12);
	w = walk(l, &b, 0, UINT64_MAX, 100);
	assert_int_equal(w.events, 2);
	assert_int_equal(w.timestamp_last, (9ull << 58) + 12);
	hodo_read_layouts_free(l);
}

/* What follows the last record, and where the last anchor is. */
TEST(test_cursor)
{
	struct hodo_read_layouts *l = layouts();
	struct body b = two();
	struct hodo_walked w;

	fixed_event(&b, 44);
	hodo_layouts_walk(l, b.data, b.len, 0, 100, 100, &w);
	assert_int_equal(w.anchor_bytes, 0);
	assert_int_equal(w.anchor_events, 0);
	assert_int_equal(w.cursor.tid, 7);
	b.len += record_anchor(b.data + b.len, 48, (1 << 24) - 1, 0x123456789abc00);
	fixed_event(&b, 48);
	hodo_layouts_walk(l, b.data, b.len, 0, 100, 100, &w);
	assert_int_equal(w.walk.events, 3);
	assert_int_equal(w.anchor_bytes, TWO + 18);
	assert_int_equal(w.anchor_events, 2);
	assert_true(w.cursor.anchored);
	assert_int_equal(w.cursor.time, 48);
	assert_int_equal(w.cursor.tid, (1 << 24) - 1);
	assert_int_equal(w.cursor.window, 0x3456789abc00);
	hodo_layouts_walk(l, b.data, TWO + 18, 0, 100, 100, &w);
	assert_int_equal(w.anchor_bytes, 0);
	/* If the record after it does not confirm an anchor, it may be other bytes. */
	record_event(b.data + TWO + 18 + 16, 1, 52);
	hodo_layouts_walk(l, b.data, b.len, 0, 100, 100, &w);
	assert_int_equal(w.walk.events, 3);
	assert_int_equal(w.anchor_bytes, 0);
	hodo_read_layouts_free(l);
}

/* A call's frame, anywhere in its window, and wherever the window begins. */
TEST(test_frames)
{
	for (uint64_t window = 0x7ffe00000000; window < 0x7ffe00004000; window += 256) {
		for (uint64_t frame = window + 8; frame < window + 16384; frame += 16) {
			struct hodo_cursor cursor = hodo_cursor_begin(0);
			struct record r = record_begin(0);
			uint64_t words[4] = { 0 };
			uint8_t *p = (uint8_t *)words;

			record_call(p + record_anchor(p, 400, 7, window), RECORD_RETURN, 404, 0x55554444aab8, frame);
			hodo_cursor_anchor(&cursor, words[0], words[1]);
			assert_int_equal(hodo_cursor_frame(&cursor, words[2]), frame);
			assert_int_equal(hodo_cursor_time(&cursor, words[2]), 404);
			assert_int_equal(hodo_call_function(words[2]), 0x444aab8);
			record_take(&r, p + record_take(&r, p));
			assert_int_equal(r.frame, frame);
		}
	}
}

/* Times across the range of a record's bits, within 2^30 ticks of an anchor, with or without a new one. */
TEST(test_wrap)
{
	struct hodo_read_layouts *l = layouts();
	uint64_t begin = (3ull << 48) - 8;
	struct body b = { .len = 0 };
	struct hodo_read_walk w;

	anchor(&b, begin, 7);
	fixed_event(&b, begin + 4);
	fixed_event(&b, begin + 12);
	fixed_event(&b, begin + 8 + (1ull << 29));
	w = walk(l, &b, begin, begin + 8 + (1ull << 29), 100);
	assert_int_equal(w.events, 3);
	assert_int_equal(w.timestamp_last, begin + 8 + (1ull << 29));
	hodo_read_layouts_free(l);
}
