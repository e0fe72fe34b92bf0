/* SPDX-License-Identifier: MIT */
/* test_top_times.c - hodo top's times of spans and values of counters, without a process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <lib/unit.h>

#include <cli/top/top.h>
#include <cli/top/top_numbers.h>

#define SECOND 1000000000ll

struct world {
	struct hodo_top_model m;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	hodo_top_model_init(&w->m, 5 * SECOND);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	hodo_top_model_free(&w->m);
	free(w);
	return 0;
}

static struct hodo_top_row *span(struct world *w, const char *base)
{
	uint32_t i = hodo_top_span(&w->m, base);

	assert_int_not_equal(i, HODO_TOP_NONE);
	return &w->m.table[HODO_TOP_SPANS].row[i];
}

static void check_spread(const struct hodo_top_spread *s, uint64_t n, double p50, double p99, uint64_t max)
{
	assert_int_equal(s->n, n);
	assert_true(fabs((double)s->p50_ns - p50) <= p50 / 100);
	assert_true(fabs((double)s->p99_ns - p99) <= p99 / 100);
	assert_int_equal(s->max_ns, max);
}

TEST(spans_of_an_interval_and_of_all, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	for (uint64_t us = 1; us <= 1000; us++)
		hodo_top_took(span(w, "kv:request"), us * 1000);
	hodo_top_tick(&w->m, 6 * SECOND);
	check_spread(&span(w, "kv:request")->times->interval, 1000, 500e3, 990e3, 1000000);
	check_spread(&span(w, "kv:request")->times->whole, 1000, 500e3, 990e3, 1000000);
	assert_true(span(w, "kv:request")->events.rate == 1000);
	hodo_top_took(span(w, "kv:request"), 7);
	hodo_top_tick(&w->m, 7 * SECOND);
	check_spread(&span(w, "kv:request")->times->interval, 1, 7, 7, 7);
	check_spread(&span(w, "kv:request")->times->whole, 1001, 500e3, 990e3, 1000000);
	hodo_top_tick(&w->m, 8 * SECOND);
	assert_int_equal(span(w, "kv:request")->times->interval.n, 0);
	hodo_top_reset(&w->m, 8 * SECOND);
	assert_int_equal(span(w, "kv:request")->times->whole.n, 0);
	hodo_top_took(span(w, "kv:request"), 20);
	hodo_top_tick(&w->m, 9 * SECOND);
	check_spread(&span(w, "kv:request")->times->whole, 1, 20, 20, 20);
}

static struct hodo_top_row *set(struct world *w, const char *name, struct hodo_cell value)
{
	uint32_t i = hodo_top_counter(&w->m, name);

	assert_int_not_equal(i, HODO_TOP_NONE);
	hodo_top_set(&w->m.table[HODO_TOP_COUNTERS].row[i], &value);
	return &w->m.table[HODO_TOP_COUNTERS].row[i];
}

TEST(counters_of_any_kind, .setup = set_up, .teardown = tear_down)
{
	static const int64_t i[] = { 5, INT64_MIN, INT64_MAX, -1 };
	static const uint64_t u[] = { 5, UINT64_MAX, UINT64_MAX - 1, 6 }; /* as doubles, two of them are equal */
	static const double f[] = { 0.5, NAN, -INFINITY, 2 };
	const struct hodo_top_values *values = NULL;
	struct world *w = *state;

	for (int k = 0; k < 4; k++)
		values = set(w, "kv:i", (struct hodo_cell){ .type = HODO_CELL_I64, .i = i[k] })->values;
	assert_true(values->last.i == -1 && values->least.i == INT64_MIN && values->most.i == INT64_MAX);
	for (int k = 0; k < 4; k++)
		values = set(w, "kv:u", hodo_cell_u64(u[k]))->values;
	assert_true(values->last.u == 6 && values->least.u == 5 && values->most.u == UINT64_MAX);
	for (int k = 0; k < 4; k++)
		values = set(w, "kv:f", hodo_cell_f64(f[k]))->values;
	assert_true(values->last.f == 2 && values->most.f == 2);
	hodo_top_reset(&w->m, 6 * SECOND);
	assert_int_equal(values->least.type, HODO_CELL_NULL);
	assert_true(values->last.f == 2);
}

TEST(names_of_spans_are_bounded, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;
	char name[32];

	for (unsigned int i = 0; i <= HODO_TOP_SPANS_MAX; i++) {
		snprintf(name, sizeof(name), "kv:span%u", i);
		assert_int_equal(hodo_top_span(&w->m, name), i < HODO_TOP_SPANS_MAX ? i : HODO_TOP_NONE);
	}
}

TEST(times_are_short, .setup = set_up, .teardown = tear_down)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.00 us" }, { 9994, "9.99 us" }, { 9996, "10.0 us" },
		{ 99960, "100 us" }, { 999499, "999 us" }, { 999501, "1.00 ms" }, { 12345678, "12.3 ms" },
		{ 59 * SECOND, "59.0 s" }, { 9999 * SECOND, "9999 s" },
	};
	char buf[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(hodo_top_time_text(cases[i].ns, buf), cases[i].text);
}

TEST_PROGRAM();
