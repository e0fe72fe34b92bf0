/* SPDX-License-Identifier: MIT */
/* test_top_spans.c - hodo top's begins and ends of several rings: in the order of their times, with lost events. */
#include <stdlib.h>
#include <string.h>

#include <lib/records.h>
#include <lib/unit.h>

#include <cli/top/top_spans.h>

enum { BEGIN = 1, END = 2, VALUE = 3, RINGS = 3, TID = 77 };

struct world {
	struct hodo_top_model m;
	struct hodo_process p;
	struct hodo_top_spans *spans;
};

static void add_class(struct world *w, uint16_t id, uint8_t kind, const char *name)
{
	static const uint8_t types[] = { HODO_TYPE_I64 };
	struct hodo_catalog_event e = { .id = id, .kind = kind, .nfields = 1, .type = types, .name = name,
					.field = { "value" } };

	assert_int_equal(hodo_read_layouts_add(&w->p.catalog.walk, id, types, 1), 0);
	hodo_top_spans_see(w->spans, &e);
}

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	hodo_top_model_init(&w->m, 0);
	w->p.layout.rings = RINGS;
	w->p.id.flight.clock = HODO_CLOCK_MONOTONIC;
	w->spans = hodo_top_spans_new(&w->m, &w->p);
	add_class(w, BEGIN, HODO_KIND_SPAN_BEGIN, "kv:request.begin");
	add_class(w, END, HODO_KIND_SPAN_END, "kv:request.end");
	add_class(w, VALUE, HODO_KIND_COUNTER, "kv:value");
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	hodo_top_spans_free(w->spans);
	assert_int_equal(w->m.queued, 0);
	assert_int_equal(w->m.begun, 0);
	hodo_layouts_clear(&w->p.catalog.walk);
	hodo_top_model_free(&w->m);
	free(w);
	return 0;
}

/* Queues one event of a ring, with an anchor before it. */
static void put(struct world *w, uint32_t ring, uint16_t id, uint64_t time, int64_t value)
{
	uint8_t *body = malloc(64); /* a separate block: a sanitizer sees reads beyond it */
	struct hodo_cursor cursor = { 0 };
	uint32_t len;

	assert_non_null(body);
	len = (uint32_t)record_anchor(body, time, TID, 0);
	len += (uint32_t)record_event(body + len, id, time);
	memcpy(body + len, &value, 8);
	hodo_top_spans_queue(w->spans, &w->p, ring, body, len + 8, &cursor);
	free(body);
}

static const struct hodo_top_row *request(const struct world *w)
{
	assert_int_equal(w->m.table[HODO_TOP_SPANS].n, 1);
	return &w->m.table[HODO_TOP_SPANS].row[0];
}

static void check(const struct world *w, uint64_t over, uint64_t open, uint64_t max_ns, uint64_t given_up)
{
	assert_int_equal(request(w)->events.total, over);
	assert_int_equal(request(w)->times->open, open);
	assert_int_equal(request(w)->times->all_max_ns, max_ns);
	assert_int_equal(w->m.given_up, given_up);
}

/* A thread that changes CPUs: the ring of the end comes first, and the counter's last value is the latest. */
TEST(rings_are_merged, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	put(w, 2, END, 5000, 0);
	put(w, 2, VALUE, 5000, 5);
	put(w, 0, VALUE, 4000, 4);
	put(w, 0, BEGIN, 6000, 0);
	put(w, 1, BEGIN, 4000, 0);
	put(w, 1, END, 6400, 0);
	hodo_top_spans_take(w->spans, UINT64_MAX, NULL, NULL);
	check(w, 2, 0, 1000, 0);
	assert_int_equal(w->m.table[HODO_TOP_COUNTERS].row[0].values->last.i, 5);
}

/* An event as new as the time of the look waits for the next look. */
TEST(what_is_young_waits, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	put(w, 1, END, 5000, 0);
	hodo_top_spans_take(w->spans, 5000, NULL, NULL);
	put(w, 0, BEGIN, 4996, 0);
	hodo_top_spans_take(w->spans, 6000, NULL, NULL);
	check(w, 1, 0, 4, 0);
}

/* A ring with packets that have not arrived holds back the others. */
TEST(lagging_rings_are_waited_for, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	put(w, 1, END, 5000, 0);
	hodo_top_spans_lag(w->spans, 0, true);
	hodo_top_spans_take(w->spans, 9000, NULL, NULL);
	check(w, 0, 0, 0, 0);
	put(w, 0, BEGIN, 4000, 0);
	hodo_top_spans_take(w->spans, 9000, NULL, NULL);
	check(w, 0, 1, 0, 0); /* another begin may come before the end */
	hodo_top_spans_lag(w->spans, 0, false);
	hodo_top_spans_take(w->spans, 9000, NULL, NULL);
	check(w, 1, 0, 1000, 0);
}

/* Three packets of begins in one ring, and of their ends in another, of which none is queued yet. */
struct unread {
	struct world *w;
	uint32_t packets[RINGS];
	uint64_t queued_max;
};

enum { PACKETS = 3, EACH = 10 };

static bool read_more(void *arg, uint32_t ring)
{
	struct unread *u = arg;

	if (ring == 2 || u->packets[ring] == PACKETS)
		return false;
	for (uint64_t i = u->packets[ring] * EACH, n = 0; n < EACH; i++, n++)
		put(u->w, ring, ring == 0 ? END : BEGIN, 1000 + 400 * i + (ring == 0 ? 40 : 0), 0);
	u->packets[ring]++;
	if (u->w->m.queued > u->queued_max)
		u->queued_max = u->w->m.queued;
	return true;
}

/* Events that are still in a ring are read when they are needed, not before, and up to the time of the look. */
TEST(rings_are_read_further, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;
	struct unread u = { .w = w };

	hodo_top_spans_take(w->spans, 1000 + 400 * EACH, read_more, &u);
	check(w, EACH, 0, 40, 0);
	assert_int_equal(u.packets[0], 2); /* whose first event is as new as the look */
	assert_int_equal(u.packets[1], 2);
	hodo_top_spans_take(w->spans, 1000000, read_more, &u);
	check(w, PACKETS * EACH, 0, 40, 0);
	assert_in_range(u.queued_max, 1, 2 * EACH);
}

/* Begins before a loss and ends after it may belong to two spans. */
TEST(no_span_goes_over_a_loss, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	put(w, 0, BEGIN, 1000, 0);
	hodo_top_spans_lose(w->spans, 0, 3000);
	put(w, 0, END, 9000, 0);
	put(w, 0, BEGIN, 9400, 0);
	put(w, 0, END, 9500, 0);
	/* Nor a span in another ring. */
	put(w, 1, BEGIN, 800, 0);
	put(w, 1, END, 1200, 0);
	/* A span in one ring, where nothing was lost, has its time. */
	put(w, 1, BEGIN, 1500, 0);
	put(w, 1, END, 1580, 0);
	hodo_top_spans_take(w->spans, UINT64_MAX, NULL, NULL);
	assert_int_equal(request(w)->times->all_max_ns, 100);
	assert_int_equal(request(w)->events.total, 2);
	assert_int_equal(w->m.given_up, 2);
}

/* Rings that wait for one that always lags do not take all memory. */
TEST(memory_is_bounded, .setup = set_up, .teardown = tear_down)
{
	struct world *w = *state;

	hodo_top_spans_lag(w->spans, 2, true);
	for (uint64_t i = 0; i < 6ull * HODO_TOP_QUEUED_MAX; i++) {
		put(w, 0, i % 2 ? END : BEGIN, 1000 + 4 * i, 0);
		if (w->m.queued >= HODO_TOP_QUEUED_MAX)
			hodo_top_spans_take(w->spans, 1000 + 4 * i, NULL, NULL);
	}
	assert_true(w->m.queued <= 4ull * HODO_TOP_QUEUED_MAX);
	assert_true(request(w)->events.total >= 2ull * HODO_TOP_QUEUED_MAX - 1);
	/* Nor does any number of begins without ends. */
	hodo_top_spans_take(w->spans, UINT64_MAX, NULL, NULL);
	for (uint64_t i = 0; i < HODO_TOP_QUEUED_MAX; i++)
		put(w, 0, BEGIN, 100000000 + 4 * i, 0);
	hodo_top_spans_take(w->spans, UINT64_MAX, NULL, NULL);
	assert_in_range(request(w)->times->open, 1, HODO_TOP_QUEUED_MAX / 2);
	assert_int_equal(w->m.given_up, HODO_TOP_QUEUED_MAX - request(w)->times->open);
}

TEST_PROGRAM();
