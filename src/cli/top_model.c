/* SPDX-License-Identifier: MIT */
/* top_model.c - hodo top: events, threads and CPUs with their counts and rates. */
#define _GNU_SOURCE
#include "top.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/abi.h>

#define SLOTS_FIRST 64u

void hodo_top_model_init(struct hodo_top_model *m, int64_t now_ns)
{
	memset(m, 0, sizeof(*m));
	m->start_ns = m->reset_ns = m->tick_ns = now_ns;
	m->table[HODO_TOP_EVENTS].max = HODO_TOP_EVENTS_MAX;
	m->table[HODO_TOP_THREADS].max = HODO_THREADS_MAX;
	m->table[HODO_TOP_CPUS].max = HODO_CPUS_MAX;
}

void hodo_top_model_free(struct hodo_top_model *m)
{
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++) {
		struct hodo_top_table *t = &m->table[kind];

		for (uint32_t i = 0; i < t->n; i++)
			free(t->row[i].name);
		free(t->row);
		free(t->slot);
	}
	memset(m, 0, sizeof(*m));
}

/* -------------------------------------------------------------------------- rows */

/* Spreads a key over all bits (the finalizer of MurmurHash3). */
static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

static uint64_t key_of_name(const char *name)
{
	uint64_t h = 14695981039346656037ull; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ull;
	return h;
}

static int grow_slots(struct hodo_top_table *t)
{
	uint32_t slots = t->slots ? 2 * t->slots : SLOTS_FIRST;
	uint32_t *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t h = mix(t->row[i].key);

		while (slot[h & (slots - 1)])
			h++;
		slot[h & (slots - 1)] = i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	return 0;
}

static int grow_rows(struct hodo_top_table *t)
{
	uint32_t room = t->room ? 2 * t->room : SLOTS_FIRST;
	struct hodo_top_row *row = realloc(t->row, room * sizeof(*row));

	if (!row)
		return -ENOMEM;
	t->row = row;
	t->room = room;
	return 0;
}

/* The row with the key, and the name unless it is NULL. */
static uint32_t find_row(const struct hodo_top_table *t, uint64_t key, const char *name)
{
	for (uint64_t h = mix(key); t->slots && t->slot[h & (t->slots - 1)]; h++) {
		uint32_t i = t->slot[h & (t->slots - 1)] - 1;

		if (t->row[i].key == key && (!name || strcmp(t->row[i].name, name) == 0))
			return i;
	}
	return HODO_TOP_NONE;
}

/* The same; a new one if there is none. */
static uint32_t row_of(struct hodo_top_table *t, uint64_t key, const char *name)
{
	uint32_t found = find_row(t, key, name);
	uint64_t h;
	char *copy;

	if (found != HODO_TOP_NONE)
		return found;
	if (t->n == t->max || (2 * t->n >= t->slots && grow_slots(t) < 0) || (t->n == t->room && grow_rows(t) < 0))
		return HODO_TOP_NONE;
	copy = name ? strdup(name) : NULL;
	if (name && !copy)
		return HODO_TOP_NONE;
	for (h = mix(key); t->slot[h & (t->slots - 1)]; h++)
		;
	memset(&t->row[t->n], 0, sizeof(t->row[0]));
	t->row[t->n].key = key;
	t->row[t->n].name = copy;
	t->slot[h & (t->slots - 1)] = ++t->n;
	return t->n - 1;
}

uint32_t hodo_top_event(struct hodo_top_model *m, const char *name)
{
	return row_of(&m->table[HODO_TOP_EVENTS], key_of_name(name), name);
}

uint32_t hodo_top_thread(struct hodo_top_model *m, uint32_t pid, uint32_t tid)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_THREADS];
	uint32_t i = row_of(t, (uint64_t)pid << 32 | tid, NULL);

	if (i != HODO_TOP_NONE) {
		t->row[i].pid = pid;
		t->row[i].number = tid;
	}
	return i;
}

uint32_t hodo_top_find_thread(const struct hodo_top_model *m, uint32_t pid, uint32_t tid)
{
	return find_row(&m->table[HODO_TOP_THREADS], (uint64_t)pid << 32 | tid, NULL);
}

uint32_t hodo_top_cpu(struct hodo_top_model *m, uint32_t cpu)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_CPUS];
	uint32_t i = row_of(t, cpu, NULL);

	if (i != HODO_TOP_NONE)
		t->row[i].number = cpu;
	return i;
}

void hodo_top_rename(struct hodo_top_row *row, const char *name)
{
	char *copy;

	if (row->name && strcmp(row->name, name) == 0)
		return;
	copy = strdup(name);
	if (!copy)
		return;
	free(row->name);
	row->name = copy;
}

/* ------------------------------------------------------------------ time, numbers */

static void tick(struct hodo_top_count *c, double seconds)
{
	/* What a hostile process says of its losses may run backwards. */
	c->rate = c->total > c->last ? (double)(c->total - c->last) / seconds : 0;
	c->last = c->total;
}

void hodo_top_tick(struct hodo_top_model *m, int64_t now_ns)
{
	int64_t ns = now_ns > m->tick_ns ? now_ns - m->tick_ns : 1;
	double seconds = (double)ns / 1e9;

	for (int kind = 0; kind < HODO_TOP_KINDS; kind++) {
		struct hodo_top_table *t = &m->table[kind];

		for (uint32_t i = 0; i < t->n; i++) {
			tick(&t->row[i].events, seconds);
			tick(&t->row[i].bytes, seconds);
			tick(&t->row[i].lost, seconds);
		}
	}
	tick(&m->events, seconds);
	tick(&m->bytes, seconds);
	tick(&m->lost, seconds);
	m->interval_ns = ns;
	m->tick_ns = now_ns;
}

void hodo_top_reset(struct hodo_top_model *m, int64_t now_ns)
{
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++) {
		struct hodo_top_table *t = &m->table[kind];

		for (uint32_t i = 0; i < t->n; i++) {
			t->row[i].events.base = t->row[i].events.total;
			t->row[i].bytes.base = t->row[i].bytes.total;
			t->row[i].lost.base = t->row[i].lost.total;
		}
	}
	m->events.base = m->events.total;
	m->bytes.base = m->bytes.total;
	m->lost.base = m->lost.total;
	m->causes_base = m->causes;
	m->limited_base = m->limited;
	m->reset_ns = now_ns;
}

uint64_t hodo_top_since_reset(const struct hodo_top_count *c)
{
	return c->total > c->base ? c->total - c->base : 0;
}

double hodo_top_average(const struct hodo_top_model *m, const struct hodo_top_count *c)
{
	int64_t ns = m->tick_ns - m->reset_ns;

	/* Counts up to the tick, and so the time. */
	return ns > 0 && c->last > c->base ? (double)(c->last - c->base) * 1e9 / (double)ns : 0;
}

/* -------------------------------------------------------------- sorting, filtering */

struct sorting {
	const struct hodo_top_row *row;
	enum hodo_top_kind kind;
	enum hodo_top_column column;
	bool reverse;
};

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_names(const struct hodo_top_row *a, const struct hodo_top_row *b)
{
	int order = strcmp(a->name ? a->name : "", b->name ? b->name : "");

	if (order == 0)
		order = compare_numbers(a->pid, b->pid);
	return order ? order : compare_numbers(a->number, b->number);
}

/* Below 0 if a comes first. */
static int compare_column(const struct hodo_top_row *a, const struct hodo_top_row *b, enum hodo_top_column column)
{
	switch (column) {
	case HODO_TOP_PID:
		return compare_numbers(a->pid, b->pid);
	case HODO_TOP_NUMBER:
		return compare_numbers(a->number, b->number);
	case HODO_TOP_RATE:
		return compare_numbers(b->events.rate, a->events.rate);
	case HODO_TOP_AVERAGE:
	case HODO_TOP_TOTAL: /* averages are over the same time */
		return compare_numbers((double)hodo_top_since_reset(&b->events),
				       (double)hodo_top_since_reset(&a->events));
	case HODO_TOP_BYTES:
		return compare_numbers(b->bytes.rate, a->bytes.rate);
	case HODO_TOP_LOST:
		return compare_numbers((double)hodo_top_since_reset(&b->lost), (double)hodo_top_since_reset(&a->lost));
	case HODO_TOP_STATE:
		return compare_numbers(b->state, a->state);
	default:
		return 0;
	}
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct sorting *s = arg;
	const struct hodo_top_row *a = &s->row[*(const uint32_t *)pa], *b = &s->row[*(const uint32_t *)pb];
	int order = s->column == HODO_TOP_NAME ? compare_names(a, b) : compare_column(a, b, s->column);

	if (s->reverse)
		order = -order;
	if (order == 0 && s->column == HODO_TOP_RATE) /* the idle: the busiest so far first */
		order = compare_column(a, b, HODO_TOP_TOTAL);
	if (order == 0)
		order = s->kind == HODO_TOP_CPUS ? compare_column(a, b, HODO_TOP_NUMBER) : compare_names(a, b);
	return order;
}

static bool matches(const struct hodo_top_row *row, enum hodo_top_kind kind, const char *glob)
{
	char number[16];

	if (kind != HODO_TOP_EVENTS) {
		snprintf(number, sizeof(number), "%u", row->number);
		if (fnmatch(glob, number, 0) == 0)
			return true;
	}
	return row->name && fnmatch(glob, row->name, 0) == 0;
}

/* fnmatch() takes a time that grows fast with the number of stars; a name is looked at for each row, each time. */
static void bound_stars(char *glob)
{
	int stars = 0;

	for (char *p = glob; *p; p++)
		if (*p == '*' && ++stars > 4)
			*p = '?';
}

int64_t hodo_top_order(const struct hodo_top_model *m, enum hodo_top_kind kind, enum hodo_top_column column,
		       bool reverse, const char *glob, uint32_t **order)
{
	const struct hodo_top_table *t = &m->table[kind];
	struct sorting s = { t->row, kind, column, reverse };
	char within[HODO_TOP_FILTER_MAX + 4] = "";
	uint32_t n = 0;

	if (glob && *glob)
		snprintf(within, sizeof(within), strpbrk(glob, "*?[") ? "%.*s" : "*%.*s*", HODO_TOP_FILTER_MAX, glob);
	bound_stars(within);
	*order = malloc((t->n + 1) * sizeof(**order));
	if (!*order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		if (!within[0] || matches(&t->row[i], kind, within))
			(*order)[n++] = i;
	qsort_r(*order, n, sizeof(**order), compare, &s);
	return n;
}
