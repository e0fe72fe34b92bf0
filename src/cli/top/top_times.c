/* SPDX-License-Identifier: MIT */
/* top_times.c - hodo top: durations of spans, in an interval and in total; the values of counters. */
#include "top.h"

#include <stdlib.h>

#include <cli/say.h>

/* -------------------------------------------------------------------------- spans */

static void add(struct hodo_histogram *h, uint64_t ns)
{
	hodo_must(hodo_histogram_add(h, ns, 1) ? h : NULL);
}

void hodo_top_took(struct hodo_top_row *span, uint64_t ns)
{
	struct hodo_top_times *t = span->times;

	add(&t->fresh, ns);
	add(&t->all, ns);
	t->fresh_max_ns = ns > t->fresh_max_ns ? ns : t->fresh_max_ns;
	t->all_max_ns = ns > t->all_max_ns ? ns : t->all_max_ns;
	span->events.total++;
}

/* Exact minimum and maximum bound what is read from buckets. */
static uint64_t at(struct hodo_histogram *h, double q, uint64_t max_ns)
{
	uint64_t ns = (uint64_t)hodo_histogram_at(h, q);

	return ns < max_ns ? ns : max_ns;
}

static void sum_up(struct hodo_top_spread *s, struct hodo_histogram *h, uint64_t max_ns)
{
	*s = (struct hodo_top_spread){ .n = h->n };
	if (!h->n)
		return;
	s->p50_ns = at(h, 0.5, max_ns);
	s->p99_ns = at(h, 0.99, max_ns);
	s->max_ns = max_ns;
}

void hodo_top_times_tick(struct hodo_top_row *row)
{
	struct hodo_top_times *t = row->times;

	if (!t)
		return;
	sum_up(&t->interval, &t->fresh, t->fresh_max_ns);
	if (t->whole.n != t->all.n)
		sum_up(&t->whole, &t->all, t->all_max_ns);
	hodo_histogram_free(&t->fresh);
	t->fresh_max_ns = 0;
}

/* ----------------------------------------------------------------------- counters */

static bool is_less(const struct hodo_cell *a, const struct hodo_cell *b)
{
	if (a->type == HODO_CELL_U64 && b->type == HODO_CELL_U64)
		return a->u < b->u;
	if (a->type == HODO_CELL_I64 && b->type == HODO_CELL_I64)
		return a->i < b->i;
	return hodo_cell_number(a) < hodo_cell_number(b);
}

void hodo_top_set(struct hodo_top_row *counter, const struct hodo_cell *value)
{
	struct hodo_top_values *v = counter->values;

	v->last = *value;
	if (v->least.type == HODO_CELL_NULL || is_less(value, &v->least))
		v->least = *value;
	if (v->most.type == HODO_CELL_NULL || is_less(&v->most, value))
		v->most = *value;
	counter->events.total++;
}

/* -------------------------------------------------------------------------- both */

void hodo_top_times_reset(struct hodo_top_row *row)
{
	struct hodo_top_times *t = row->times;

	if (row->values)
		row->values->least = row->values->most = (struct hodo_cell){ .type = HODO_CELL_NULL };
	if (!t)
		return;
	hodo_histogram_free(&t->all);
	t->all_max_ns = 0;
	t->whole = (struct hodo_top_spread){ 0 };
}

void hodo_top_times_free(struct hodo_top_row *row)
{
	if (row->times) {
		hodo_histogram_free(&row->times->fresh);
		hodo_histogram_free(&row->times->all);
	}
	free(row->times);
	free(row->values);
	row->times = NULL;
	row->values = NULL;
}
