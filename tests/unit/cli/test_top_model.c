/* SPDX-License-Identifier: MIT */
/* test_top_model.c - hodo top's numbers, orders, keys and lines, without a process or a terminal. */
#define _GNU_SOURCE
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <lib/unit.h>

#include <hodo/abi.h>

#include <cli/top/top.h>

#define SECOND 1000000000ll

struct world {
	struct hodo_top_model m;
	struct hodo_top_view v;
	struct hodo_top_frame f;
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	hodo_top_model_init(&w->m, 5 * SECOND);
	hodo_top_view_init(&w->v);
	w->v.title = "program[1]";
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	hodo_top_frame_free(&w->f);
	hodo_top_view_free(&w->v);
	hodo_top_model_free(&w->m);
	free(w);
	return 0;
}

static struct hodo_top_row *event(struct world *w, const char *name)
{
	uint32_t i = hodo_top_event(&w->m, name);

	assert_int_not_equal(i, HODO_TOP_NONE);
	w->m.table[HODO_TOP_EVENTS].row[i].state = HODO_TOP_ON;
	return &w->m.table[HODO_TOP_EVENTS].row[i];
}

static void add(struct world *w, const char *name, uint64_t events)
{
	event(w, name)->events.total += events;
	event(w, name)->bytes.total += 20 * events;
	w->m.events.total += events;
	w->m.bytes.total += 20 * events;
}

static const char *shown(struct world *w, uint32_t place)
{
	assert_true(place < w->v.n);
	return w->m.table[w->v.kind].row[w->v.order[place]].name;
}

/* --------------------------------------------------------------------------- rows */

TEST(rows_are_found_again, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "kv:event%u", i);
			assert_int_equal(hodo_top_event(&w->m, name), i);
			assert_int_equal(hodo_top_thread(&w->m, i / 7, i), i);
			assert_int_equal(hodo_top_find_thread(&w->m, i / 7, i), i);
			assert_int_equal(hodo_top_cpu(&w->m, i), i);
		}
	}
	assert_int_equal(hodo_top_find_thread(&w->m, 1, 5000), HODO_TOP_NONE);
	assert_int_equal(w->m.table[HODO_TOP_EVENTS].n, 5000);
	assert_string_equal(w->m.table[HODO_TOP_EVENTS].row[4999].name, "kv:event4999");
	assert_int_equal(w->m.table[HODO_TOP_THREADS].row[4999].pid, 714);
}

TEST(threads_are_bounded, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	for (uint32_t i = 0; i < HODO_THREADS_MAX; i++)
		assert_int_equal(hodo_top_thread(&w->m, 1, i), i);
	assert_int_equal(hodo_top_thread(&w->m, 1, HODO_THREADS_MAX), HODO_TOP_NONE);
	assert_int_equal(hodo_top_thread(&w->m, 1, 17), 17);
}

/* -------------------------------------------------------------------------- numbers */

TEST(rates_are_by_the_time_that_passed, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	add(w, "kv:put", 1000);
	hodo_top_tick(&w->m, 5 * SECOND + SECOND / 4);
	assert_true(fabs(event(w, "kv:put")->events.rate - 4000) < 1e-6);
	assert_true(fabs(event(w, "kv:put")->bytes.rate - 80000) < 1e-6);
	assert_int_equal(w->m.interval_ns, SECOND / 4);
	add(w, "kv:put", 1000);
	hodo_top_tick(&w->m, 7 * SECOND);
	assert_true(fabs(event(w, "kv:put")->events.rate - 1000 / 1.75) < 1e-6);
	assert_true(fabs(hodo_top_average(&w->m, &event(w, "kv:put")->events) - 1000) < 1e-6);
	hodo_top_tick(&w->m, 8 * SECOND);
	assert_true(event(w, "kv:put")->events.rate == 0);
	/* The clock does not advance, or a count goes back: no rate is negative or infinite. */
	event(w, "kv:put")->events.total -= 500;
	hodo_top_tick(&w->m, 8 * SECOND);
	assert_true(event(w, "kv:put")->events.rate == 0);
	assert_true(w->m.interval_ns > 0);
}

TEST(reset_leaves_what_was_counted, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	add(w, "kv:put", 300);
	w->m.lost.total = 12345;
	w->m.causes = (struct hodo_lost){ .full = 12300, .too_large = 45 };
	hodo_top_tick(&w->m, 6 * SECOND);
	hodo_top_frame_build(&w->f, &w->m, &w->v, 80, 0);
	assert_string_equal(w->f.line[2].text, "lost 12,345 (12,345/s): buffer full 12,300, too large 45");
	hodo_top_reset(&w->m, 6 * SECOND);
	hodo_top_frame_build(&w->f, &w->m, &w->v, 80, 0);
	assert_string_equal(w->f.line[2].text, "nothing lost");
	assert_int_equal(hodo_top_since_reset(&event(w, "kv:put")->events), 0);
	assert_int_equal(event(w, "kv:put")->events.total, 300);
	add(w, "kv:put", 100);
	hodo_top_tick(&w->m, 8 * SECOND);
	assert_int_equal(hodo_top_since_reset(&w->m.events), 100);
	assert_true(fabs(hodo_top_average(&w->m, &event(w, "kv:put")->events) - 50) < 1e-6);
}

/* -------------------------------------------------------------- sorting, filtering */

static void fill(struct world *w)
{
	add(w, "kv:put", 50);
	add(w, "kv:get", 900);
	add(w, "net:send", 50);
	add(w, "kv:evict", 0);
	hodo_top_tick(&w->m, 6 * SECOND);
	hodo_top_view_update(&w->v, &w->m);
}

static void check_order(struct world *w, const char *names)
{
	char got[256] = "";

	for (uint32_t i = 0; i < w->v.n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "", shown(w, i));
	assert_string_equal(got, names);
}

TEST(orders_are_total, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	fill(w);
	check_order(w, "kv:get kv:put net:send kv:evict");
	hodo_top_view_key(&w->v, &w->m, 'r');
	check_order(w, "kv:evict kv:put net:send kv:get");
	hodo_top_view_key(&w->v, &w->m, 'N');
	check_order(w, "kv:evict kv:get kv:put net:send");
	hodo_top_view_key(&w->v, &w->m, '<'); /* it is the first one already */
	check_order(w, "kv:evict kv:get kv:put net:send");
	hodo_top_view_key(&w->v, &w->m, '>');
	assert_int_equal(w->v.sort[HODO_TOP_EVENTS], HODO_TOP_RATE);
	/* Nothing happens any more: the busiest events so far keep their place. */
	hodo_top_tick(&w->m, 7 * SECOND);
	hodo_top_view_update(&w->v, &w->m);
	check_order(w, "kv:get kv:put net:send kv:evict");
	event(w, "kv:evict")->state = HODO_TOP_OFF;
	hodo_top_view_key(&w->v, &w->m, 'S');
	check_order(w, "kv:get kv:put net:send kv:evict");
	hodo_top_view_key(&w->v, &w->m, 'r');
	check_order(w, "kv:evict kv:get kv:put net:send");
	event(w, "net:send")->bytes.rate = 1e9;
	hodo_top_view_key(&w->v, &w->m, 'B');
	check_order(w, "net:send kv:evict kv:get kv:put"); /* the idle ones by name */
}

static void type(struct world *w, const char *text)
{
	for (; *text; text++)
		hodo_top_view_key(&w->v, &w->m, (unsigned char)*text);
}

TEST(filters_are_globs_or_parts, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	fill(w);
	type(w, "/kv:*");
	check_order(w, "kv:get kv:put net:send kv:evict"); /* not before it is entered */
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ENTER);
	check_order(w, "kv:get kv:put kv:evict");
	type(w, "/");
	hodo_top_view_key(&w->v, &w->m, 'U' - '@');
	type(w, "send");
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_BACKSPACE);
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ENTER);
	assert_string_equal(w->v.filter, "sen");
	check_order(w, "net:send");
	type(w, "/[n");
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ESCAPE);
	check_order(w, "net:send");
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ESCAPE);
	check_order(w, "kv:get kv:put net:send kv:evict");
	/* A filter that is too long, with more stars than a matcher can handle. */
	type(w, "/");
	for (int i = 0; i < 1000; i++)
		hodo_top_view_key(&w->v, &w->m, '*');
	hodo_top_view_key(&w->v, &w->m, 'x');
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ENTER);
	assert_true(strlen(w->v.filter) < sizeof(w->v.filter));
	add(w, "kv:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1);
	hodo_top_view_update(&w->v, &w->m);
	assert_int_equal(w->v.n, 0);
	assert_int_equal(w->v.selected, HODO_TOP_NONE);
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_DOWN);
	assert_int_equal(hodo_top_view_key(&w->v, &w->m, ' '), HODO_TOP_SWITCH);
}

TEST(threads_by_number, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;
	struct hodo_top_table *t = &w->m.table[HODO_TOP_THREADS];

	for (uint32_t tid = 30; tid > 10; tid -= 10) {
		uint32_t i = hodo_top_thread(&w->m, 7, tid);

		hodo_top_rename(&t->row[i], tid == 30 ? "main" : "worker");
	}
	hodo_top_thread(&w->m, 7, 40); /* without a name */
	type(w, "t/2?");
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ENTER);
	assert_int_equal(w->v.n, 1);
	check_order(w, "worker");
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_ESCAPE);
	type(w, "I");
	assert_int_equal(t->row[w->v.order[0]].number, 20);
	assert_int_equal(t->row[w->v.order[2]].number, 40);
	type(w, "t");
	assert_int_equal(w->v.kind, HODO_TOP_EVENTS);
}

/* ------------------------------------------------------------------------ selection */

TEST(selection_stays_on_its_row, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	fill(w);
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_DOWN);
	assert_string_equal(shown(w, w->v.at), "kv:put");
	add(w, "net:send", 10000);
	hodo_top_tick(&w->m, 7 * SECOND);
	hodo_top_view_update(&w->v, &w->m);
	check_order(w, "net:send kv:get kv:put kv:evict");
	assert_string_equal(shown(w, w->v.at), "kv:put");
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_END);
	assert_int_equal(w->v.at, 3);
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_DOWN);
	assert_int_equal(w->v.at, 3);
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_HOME);
	hodo_top_view_key(&w->v, &w->m, HODO_KEY_UP);
	assert_int_equal(w->v.at, 0);
}

TEST(intervals_go_in_steps, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;
	static const int64_t steps[] = { 2000, 5000, 10000, 20000 };
	static const int64_t back[] = { 10000, 5000, 2000, 1000, 500, 200, 100, 100 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		hodo_top_view_key(&w->v, &w->m, '+');
		assert_int_equal(w->v.interval_ns, steps[i] * 1000000);
	}
	for (size_t i = 0; i < sizeof(back) / sizeof(*back); i++) {
		hodo_top_view_key(&w->v, &w->m, '-');
		assert_int_equal(w->v.interval_ns, back[i] * 1000000);
	}
	for (int i = 0; i < 100; i++)
		hodo_top_view_key(&w->v, &w->m, '+');
	assert_int_equal(w->v.interval_ns, HODO_TOP_INTERVAL_MAX_NS);
}

/* ---------------------------------------------------------------------------- frames */

static int columns_of(const char *text)
{
	wchar_t wide[4096];

	assert_true(mbstowcs(wide, text, 4096) < 4096);
	return wcswidth(wide, 4096);
}

static void set(struct world *w, const char *name, struct hodo_cell value)
{
	uint32_t i = hodo_top_counter(&w->m, name);

	hodo_top_set(&w->m.table[HODO_TOP_COUNTERS].row[i], &value);
}

static void add_extremes(struct world *w)
{
	uint32_t i = hodo_top_span(&w->m, "kv:a-name-that-is-rather-long");
	struct hodo_top_row *span = &w->m.table[HODO_TOP_SPANS].row[i];

	hodo_top_took(span, UINT64_MAX);
	span->times->open = UINT64_MAX;
	set(w, "kv:least", (struct hodo_cell){ .type = HODO_CELL_I64, .i = INT64_MIN });
	set(w, "kv:most", hodo_cell_u64(UINT64_MAX));
	set(w, "kv:fraction", hodo_cell_f64(-1.23456789e-300));
}

/* For each size of the window, and everything that it can show: the right number of lines, none too wide. */
TEST(frames_fit, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	fill(w);
	add(w, "kv:\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", UINT64_C(1) << 60);
	event(w, "kv:put")->lost.total = UINT64_MAX;
	w->m.lost.total = w->m.causes.full = UINT64_MAX;
	w->m.images = w->m.live = UINT32_MAX;
	hodo_top_thread(&w->m, UINT32_MAX, UINT32_MAX);
	hodo_top_cpu(&w->m, HODO_CPU_ANY);
	add_extremes(w);
	hodo_top_tick(&w->m, INT64_MAX);
	for (int kind = 0; kind < HODO_TOP_KINDS + 2; kind++) {
		if (kind < HODO_TOP_KINDS)
			w->v.kind = (enum hodo_top_kind)kind;
		w->v.help = kind == HODO_TOP_KINDS;
		if (kind > HODO_TOP_KINDS)
			type(w, "/a long, long filter of more than twenty columns");
		hodo_top_view_update(&w->v, &w->m);
		for (int width = HODO_TOP_WIDTH_MIN; width <= 1200; width += width < 140 ? 1 : 97) {
			for (int height = HODO_TOP_HEIGHT_MIN; height < 40; height++) {
				hodo_top_frame_build(&w->f, &w->m, &w->v, width, height);
				assert_int_equal(w->f.n, height);
				for (int i = 0; i < height; i++)
					assert_in_range(columns_of(w->f.line[i].text), 0, width);
			}
		}
	}
}

TEST(frame_shows_the_selected_row, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;
	char name[32];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "kv:event%02d", i);
		add(w, name, 1000 - (uint64_t)i);
	}
	hodo_top_tick(&w->m, 6 * SECOND);
	hodo_top_view_update(&w->v, &w->m);
	for (int key = 0; key < 300; key++) {
		static const int keys[] = { HODO_KEY_DOWN, HODO_KEY_PAGE_DOWN, HODO_KEY_END, HODO_KEY_PAGE_UP,
					    HODO_KEY_UP };
		int selected = 0;

		hodo_top_view_key(&w->v, &w->m, keys[key * 7 % 11 % 5]);
		hodo_top_frame_build(&w->f, &w->m, &w->v, 80, 5 + key % 20);
		for (uint32_t i = 0; i < w->f.n; i++) {
			if (w->f.line[i].look != HODO_LOOK_SELECTED)
				continue;
			selected++;
			snprintf(name, sizeof(name), "kv:event%02u ", w->v.at);
			assert_memory_equal(w->f.line[i].text, name, strlen(name));
		}
		assert_int_equal(selected, 1);
	}
	hodo_top_frame_build(&w->f, &w->m, &w->v, 80, 0);
	assert_int_equal(w->f.n, 105);
}

TEST(foreign_names_are_harmless, .setup = set_up, .teardown = tear_down)
{
	static const struct {
		const char *from, *to;
		int width, used;
	} cases[] = {
		{ "plain", "plain", 80, 5 },
		{ "a\033[31mb\a\r\n\t\x7f", "a?[31mb?????", 80, 12 },
		{ "caf\xc3\xa9", "caf\xc3\xa9", 80, 4 },
		{ "\xc2\x9b" "2J", "?2J", 80, 3 },           /* CSI in one byte, as UTF-8 */
		{ "\x9b" "2J", "?2J", 80, 3 },               /* and as one byte */
		{ "\xe2\x80\xaeltr", "?ltr", 80, 4 },        /* reverses the direction of writing */
		{ "\xff\xfe\xc3", "???", 80, 3 },
		{ "\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2", 3, 2 }, /* two columns each */
		{ "toolong", "too", 3, 3 },
		{ "", "", 3, 0 },
	};
	char to[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(hodo_top_printable(to, sizeof(to), cases[i].from, cases[i].width), cases[i].used);
		assert_string_equal(to, cases[i].to);
	}
	assert_int_equal(hodo_top_printable(to, 4, "\xe6\xbc\xa2\xe5\xad\x97", 80), 2);
	assert_string_equal(to, "\xe6\xbc\xa2");
}

static const char *no_locale(void)
{
	return setlocale(LC_CTYPE, "C.UTF-8") ? NULL : "no locale C.UTF-8";
}

TEST_PROGRAM(.lacks = no_locale);
