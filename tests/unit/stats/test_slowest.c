/* SPDX-License-Identifier: MIT */
/* test_slowest.c - the longest calls are kept, longest first, however many there are. */
#include <string.h>
#include <lib/unit.h>

#include <stats/slowest.h>

#define ROOM 5

static struct hodo_symbols *symbols;
static struct hodo_stats_slowest slowest;
static struct hodo_read_process process = { .pid = 7, .hostname = "one" };

static int start(void **state)
{
	symbols = hodo_symbols_new("nowhere");
	return symbols ? slowest_start(&slowest, symbols, ROOM, false, false) : -1;
}

static int end(void **state)
{
	slowest_free(&slowest);
	hodo_symbols_free(symbols);
	return 0;
}

static void call(uint64_t self_ns, uint32_t tid)
{
	struct hodo_read_call c = { .process = &process, .comm = "worker", .tid = tid, .entry_ns = 1000,
				    .end_ns = 1000 + 10 * (int64_t)self_ns, .self_ns = self_ns };

	assert_int_equal(slowest_call(&slowest, &c), 0);
}

TEST(the_longest_are_kept_in_any_order, .setup = start, .teardown = end)
{
	/* 1 … 97, each once, in an order that jumps. */
	for (uint32_t i = 1; i <= 97; i++)
		call(i * 31 % 97 + 1, i);
	assert_int_equal(slowest.calls.n, ROOM);
	for (uint32_t i = 0; i < ROOM; i++) {
		assert_int_equal(slowest.calls.row[i].rank_ns, 97 - i);
		assert_int_equal(slowest.calls.row[i].duration_ns, 10 * (97 - i));
	}
	assert_int_equal(slowest.spans.n, 0);
}

TEST(of_equal_ones_the_first_stay, .setup = start, .teardown = end)
{
	for (uint32_t i = 1; i <= 20; i++)
		call(100, i);
	assert_int_equal(slowest.calls.n, ROOM);
	for (uint32_t i = 0; i < ROOM; i++)
		assert_int_equal(slowest.calls.row[i].tid, i + 1);
	assert_string_equal(slowest.calls.row[0].thread, "worker[1]");
	assert_null(slowest.calls.row[0].host);
}

TEST(none_may_be_wanted)
{
	symbols = hodo_symbols_new("nowhere");
	assert_int_equal(slowest_start(&slowest, symbols, 0, false, true), 0);
	call(100, 1);
	assert_int_equal(slowest.calls.n, 0);
	end(NULL);
}
