/* SPDX-License-Identifier: MIT */
/* test_top_count.c - hodo_walk_count(): what hodo top counts in a packet, by event and by thread. */
#include <stdlib.h>
#include <string.h>

#include <lib/random.h>
#include <lib/records.h>
#include <lib/unit.h>

#include <record/ring/event_walk.h>

#define NUMBER 1
#define TEXT 2
#define ENTRY 3
#define EXIT 4
#define IDS 5
#define RUNS_MAX 64

struct counted {
	struct hodo_walk_tally tally[IDS];
	struct {
		uint32_t tid, events, bytes;
	} run[RUNS_MAX];
	uint32_t runs;
};

static void add_run(void *arg, uint32_t tid, uint32_t events, uint32_t bytes)
{
	struct counted *c = arg;

	assert_true(c->runs < RUNS_MAX && events > 0);
	c->run[c->runs].tid = tid;
	c->run[c->runs].events = events;
	c->run[c->runs++].bytes = bytes;
}

static void make_layouts(struct hodo_read_layouts *l, bool calls)
{
	static const uint8_t number[] = { HODO_TYPE_U64 }, text[] = { HODO_TYPE_STR };
	static const uint8_t call[] = { HODO_TYPE_PTR, HODO_TYPE_U32 };

	assert_int_equal(hodo_read_layouts_add(l, NUMBER, number, 1), 0);
	assert_int_equal(hodo_read_layouts_add(l, TEXT, text, 1), 0);
	assert_int_equal(hodo_read_layouts_add(l, ENTRY, call, 2), 0);
	assert_int_equal(hodo_read_layouts_add(l, EXIT, call, 2), 0);
	if (calls)
		assert_int_equal(hodo_read_layouts_calls(l, ENTRY, EXIT), 0);
}

static uint32_t count(const struct hodo_read_layouts *l, const uint8_t *body, uint32_t len, uint32_t ids,
		      struct counted *c)
{
	struct hodo_walk_counter counter = { c->tally, ids, add_run, c, { 0 } };
	uint8_t *copy = malloc(len + !len); /* exactly as long: a sanitizer sees reads beyond it */
	uint32_t bytes;

	memset(c, 0, sizeof(*c));
	assert_non_null(copy);
	memcpy(copy, body, len);
	bytes = hodo_walk_count(l, copy, len, &counter);
	free(copy);
	return bytes;
}

/* Writes one record of a random form at p, and adds it to what is expected; returns its bytes. */
static uint32_t put(uint8_t *p, uint64_t *seed, struct counted *expected)
{
	static const uint32_t id_of[] = { ENTRY, EXIT, NUMBER, TEXT };
	uint32_t what = xorshift(seed) % 4, bytes = 8;

	if (what < 2) {
		record_call(p, (enum record_form)what, 400, 0x400000, 0x7ffc00000008);
	} else {
		uint16_t len = xorshift(seed) % 20;

		record_event(p, (uint16_t)id_of[what], 400);
		memset(p + RECORD_EVENT_BYTES, 0xff, 40);
		if (what == 3)
			memcpy(p + RECORD_EVENT_BYTES, &len, 2);
		bytes = what == 3 ? RECORD_EVENT_BYTES + 2 + len : RECORD_EVENT_BYTES + 8;
	}
	expected->tally[id_of[what]].events++;
	expected->tally[id_of[what]].bytes += bytes;
	return bytes;
}

/* Runs of several threads, of records of all forms, cut at each byte. */
TEST(test_cut)
{
	struct hodo_read_layouts l = { 0 };
	static uint8_t body[4096];
	struct counted expected[200] = { { .runs = 0 } }, c;
	uint32_t ends[200], n = 0, at = 0, tid = 0, in_run = 0, bytes;
	uint64_t seed = 1;

	make_layouts(&l, true);
	while (at < 1500) {
		struct counted *e = &expected[n];

		if (n)
			*e = expected[n - 1];
		if (!tid || xorshift(&seed) % 8 == 0) { /* also for the same thread, as where an epoch ends */
			uint32_t next = 7 + xorshift(&seed) % 2;

			if (next != tid)
				in_run = 0;
			tid = next;
			at += (uint32_t)record_anchor(body + at, 400, tid, 0x7ffc00000000);
		}
		bytes = put(body + at, &seed, e);
		at += bytes;
		e->runs += in_run++ == 0;
		e->run[e->runs - 1].tid = tid;
		e->run[e->runs - 1].events = in_run;
		e->run[e->runs - 1].bytes += bytes;
		ends[n++] = at;
	}
	for (uint32_t len = 0, whole = 0; len <= at; len++) {
		uint32_t events = 0;

		while (whole < n && ends[whole] <= len)
			whole++;
		bytes = count(&l, body, len, IDS, &c);
		for (uint32_t i = 0; i < c.runs; i++)
			events += c.run[i].events;
		assert_int_equal(events, whole);
		assert_true(bytes <= len && (!whole || bytes >= ends[whole - 1]));
		if (!whole)
			continue;
		assert_memory_equal(c.tally, expected[whole - 1].tally, sizeof(c.tally));
		assert_int_equal(c.runs, expected[whole - 1].runs);
		assert_memory_equal(c.run, expected[whole - 1].run, sizeof(c.run));
	}
	hodo_layouts_clear(&l);
}

/* From the middle on: the thread of the first events is known from before. */
TEST(test_continued)
{
	struct hodo_read_layouts l = { 0 };
	uint8_t body[200] = { 0 };
	struct counted c = { .runs = 0 };
	struct hodo_walk_counter counter = { c.tally, IDS, add_run, &c, { .tid = 9 } };
	uint32_t at = 0;

	make_layouts(&l, true);
	at += (uint32_t)record_event(body, NUMBER, 400) + 8;
	at += (uint32_t)record_anchor(body + at, 400, 7, 0);
	at += (uint32_t)record_event(body + at, NUMBER, 400) + 8;
	assert_int_equal(hodo_walk_count(&l, body, at, &counter), at);
	assert_int_equal(counter.cursor.tid, 7);
	record_event(body, NUMBER, 400);
	assert_int_equal(hodo_walk_count(&l, body, 14, &counter), 14);
	assert_int_equal(c.runs, 3);
	assert_int_equal(c.run[0].tid, 9);
	assert_int_equal(c.run[1].tid, 7);
	assert_int_equal(c.run[2].tid, 7);
	hodo_layouts_clear(&l);
}

/* Bytes that are no record, or have an id that is not counted, end the walk. */
TEST(test_bad)
{
	struct hodo_read_layouts l = { 0 }, without = { 0 };
	uint8_t body[100] = { 0 };
	struct counted c;
	uint32_t at;

	make_layouts(&l, true);
	make_layouts(&without, false);
	at = (uint32_t)record_anchor(body, 400, 7, 0);
	record_event(body + at, NUMBER, 400);
	at += 14;
	assert_int_equal(count(&l, body, sizeof(body), IDS, &c), at); /* a first word of 0 */
	assert_int_equal(c.tally[NUMBER].events, 1);
	record_event(body + at, IDS, 400);
	assert_int_equal(count(&l, body, sizeof(body), IDS, &c), at);
	record_event(body + at, NUMBER, 400);
	body[at + 3] |= 0x80;
	assert_int_equal(count(&l, body, sizeof(body), IDS, &c), at);
	record_event(body + at, TEXT, 400);
	assert_int_equal(count(&l, body, sizeof(body), TEXT, &c), at);
	record_call(body + at, RECORD_RETURN, 400, 0x400000, 0x7ffc00000008);
	assert_int_equal(count(&l, body, sizeof(body), IDS, &c), at + 8);
	assert_int_equal(c.tally[EXIT].events, 1);
	assert_int_equal(count(&l, body, sizeof(body), EXIT, &c), at);
	assert_int_equal(count(&without, body, sizeof(body), IDS, &c), at);
	assert_int_equal(c.runs, 1);
	hodo_layouts_clear(&l);
	hodo_layouts_clear(&without);
}
