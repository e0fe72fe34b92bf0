/* SPDX-License-Identifier: MIT */
/* test_shorts.c - calls and returns of 8 bytes: the address and the frame that each stands for. */
#include <lib/recordings/help.h>

#include <read/file/layout.h>

#define SPAN (1ull << 27)
#define ALWAYS 0, UINT64_MAX

/* What a record holds of an address. */
static uint64_t bits(uint64_t address)
{
	return address & (SPAN - 4);
}

TEST(test_none)
{
	struct hodo_shorts s = { .n = 0 };

	assert_int_equal(hodo_read_shorts_address(&s, bits(0x7f1234567890), 5), bits(0x7f1234567890));
}

TEST(test_several)
{
	/* Two adjacent ones, one that ends beyond a multiple of 128 MiB, one with room of nearly 128 MiB. */
	struct hodo_short object[] = { { 0x400000, 0x500000, ALWAYS }, { 0x500000, 0x500010, ALWAYS },
				       { 0x7f1007fff000, 0x7f1008002000, ALWAYS },
				       { 0x7f2000600000, 0x7f2007ffe000, ALWAYS } };
	struct hodo_shorts s = { .object = object, .n = 4 };

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < s.n; i++) {
			uint64_t step = ((object[i].end - object[i].start) / 999 & ~7ull) + 8;

			for (uint64_t at = object[i].start; at < object[i].end; at += step)
				assert_int_equal(hodo_read_shorts_address(&s, bits(at), 5), at);
			assert_int_equal(hodo_read_shorts_address(&s, bits(object[i].end - 8), 5), object[i].end - 8);
		}
	}
	/* In no object: before the first, after the third. */
	assert_int_equal(hodo_read_shorts_address(&s, bits(0x3ffff8), 5), bits(0x3ffff8));
	assert_int_equal(hodo_read_shorts_address(&s, bits(0x7f1008002000), 5), bits(0x7f1008002000));
}

/* The same bits at different times. */
TEST(test_times)
{
	struct hodo_short object[] = { { 0x7f1000001000, 0x7f1000009000, 0, 100 },
				       { 0x7f2008001000, 0x7f2008009000, 100, 200 },
				       { 0x7f3010004000, 0x7f301000c000, 300, UINT64_MAX } };
	struct hodo_shorts s = { .object = object, .n = 3 };

	for (int round = 0; round < 2; round++) {
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 0), 0x7f1000004ff8);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 99), 0x7f1000004ff8);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 100), 0x7f2008004ff8);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 199), 0x7f2008004ff8);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 200), 0x4ff8); /* unloaded */
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 299), 0x4ff8);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x4ff8), 300), 0x7f3010004ff8);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0x1000), 300), 0x1000);
		assert_int_equal(hodo_read_shorts_address(&s, bits(0xbff8), UINT64_MAX - 1), 0x7f301000bff8);
	}
}

/* Objects as in a damaged file: any answer is right, but no crash. */
TEST(test_hostile)
{
	struct hodo_short object[] = { { UINT64_MAX - 5, UINT64_MAX, ALWAYS }, { 3, UINT64_MAX, ALWAYS } };
	struct hodo_shorts s = { .object = object, .n = 1 };

	assert_int_equal(hodo_read_shorts_address(&s, 0, 5), 0);
	assert_int_equal(hodo_read_shorts_address(&s, bits(UINT64_MAX - 5), 5), bits(UINT64_MAX - 5));
	s.n = 2;
	assert_int_equal(hodo_read_shorts_address(&s, 8, 5), 8);
}

static void check_call(const struct hodo_read_event *e, const struct gen_short_call *c)
{
	assert_string_equal(e->cls->name, c->form == RECORD_CALL ? "func:entry" : "func:exit");
	assert_int_equal(e->tid, c->tid);
	assert_int_equal(e->ticks, c->ticks * GEN_TICK);
	assert_int_equal(e->values[0].u, c->function);
	assert_int_equal(e->values[1].u, c->frame >> 3 & UINT32_MAX);
	assert_int_equal(e->payload_bytes, 12);
}

/* Nested calls in two threads, with changing windows, an epoch's end, and an object that replaces another. */
TEST(test_recording)
{
	const uint64_t rounds = 70;
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	const struct hodo_read_process *p;
	const struct hodo_read_event *e;
	uint64_t n = 0, whole = 0;
	struct hodo_read *r;

	gen_short(folder_path("short"), rounds);
	r = help_open(folder_path("short"));
	for (; hodo_read_next(r, &e) > 0; n++) {
		struct gen_short_call c = gen_short_call(n);

		check_call(e, &c);
		whole += c.whole;
	}
	assert_int_equal(n, rounds * 64);
	assert_true(whole > n / 4 && whole < n / 2);
	assert_int_equal(help_walk(r), n);
	/* The counts are those of the file. */
	assert_int_equal(hodo_read_count(r, &totals), 0);
	assert_int_equal(totals.bytes, 18 * whole + 8 * (n - whole));
	p = hodo_read_process(r, 0);
	assert_int_equal(p->classes[0]->count, n / 2);
	assert_int_equal(p->classes[0]->bytes + p->classes[1]->bytes, totals.bytes);
	assert_int_equal(p->classes[0]->fixed_bytes, 18);
	/* From the middle on. */
	hodo_read_limit(r, totals.begin_ns + 300000, INT64_MAX);
	for (n = 3000; hodo_read_next(r, &e) > 0; n++) {
		struct gen_short_call c = gen_short_call(n);

		check_call(e, &c);
	}
	assert_int_equal(n, rounds * 64);
	assert_int_equal(help_nwarnings, 0);
	hodo_read_close(r);
}
