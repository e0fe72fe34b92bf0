/* SPDX-License-Identifier: MIT */
/* top_model.c - hodo top: events, threads and CPUs with their counts and rates. */
#include "top.h"

#include <fnmatch.h>
#include <string.h>

#include <hodo/abi.h>

void hodo_top_model_init(struct hodo_top_model *m, int64_t now_ns)
{
	static const uint32_t max[HODO_TOP_KINDS] = {
		[HODO_TOP_EVENTS] = HODO_TOP_EVENTS_MAX, [HODO_TOP_SPANS] = HODO_TOP_SPANS_MAX,
		[HODO_TOP_COUNTERS] = HODO_TOP_SPANS_MAX, [HODO_TOP_THREADS] = HODO_THREADS_MAX,
		[HODO_TOP_CPUS] = HODO_CPUS_MAX,
	};

	memset(m, 0, sizeof(*m));
	m->start_ns = m->reset_ns = m->tick_ns = now_ns;
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++)
		m->table[kind] = (struct hodo_top_table){ HODO_MAP_BYTES(struct hodo_top_row), .max = max[kind] };
}

void hodo_top_model_free(struct hodo_top_model *m)
{
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++) {
		struct hodo_top_table *t = &m->table[kind];

		for (uint32_t i = 0; i < t->n; i++) {
			free(t->row[i].name);
			hodo_top_times_free(&t->row[i]);
		}
		hodo_map_free(&t->rows);
	}
	memset(m, 0, sizeof(*m));
}

/* -------------------------------------------------------------------------- rows */

/* The row with the key, created if necessary. */
static uint32_t row_of(struct hodo_top_table *t, const void *key, size_t len)
{
	struct hodo_top_row *row = hodo_map_find_bytes(&t->rows, key, len);

	if (!row && t->n < t->max)
		row = hodo_map_add_bytes(&t->rows, key, len, NULL);
	t->row = t->rows.entries;
	t->n = t->rows.n;
	return row ? hodo_map_index(&t->rows, row) : HODO_TOP_NONE;
}

static uint32_t named_row(struct hodo_top_table *t, const char *name)
{
	uint32_t i = row_of(t, name, strlen(name));

	if (i != HODO_TOP_NONE)
		hodo_top_rename(&t->row[i], name);
	return i;
}

uint32_t hodo_top_event(struct hodo_top_model *m, const char *name)
{
	return named_row(&m->table[HODO_TOP_EVENTS], name);
}

uint32_t hodo_top_span(struct hodo_top_model *m, const char *base)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_SPANS];
	uint32_t i = named_row(t, base);

	if (i == HODO_TOP_NONE || t->row[i].times)
		return i;
	t->row[i].times = hodo_must(calloc(1, sizeof(*t->row[i].times)));
	*t->row[i].times = (struct hodo_top_times){ .fresh = HODO_HISTOGRAM, .all = HODO_HISTOGRAM };
	return i;
}

uint32_t hodo_top_counter(struct hodo_top_model *m, const char *name)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_COUNTERS];
	uint32_t i = named_row(t, name);

	if (i == HODO_TOP_NONE || t->row[i].values)
		return i;
	t->row[i].values = hodo_must(calloc(1, sizeof(*t->row[i].values)));
	hodo_top_times_reset(&t->row[i]);
	t->row[i].values->last = t->row[i].values->least;
	return i;
}

uint32_t hodo_top_thread(struct hodo_top_model *m, uint32_t pid, uint32_t tid)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_THREADS];
	const uint32_t key[] = { pid, tid };
	uint32_t i = row_of(t, key, sizeof(key));

	if (i != HODO_TOP_NONE) {
		if (!t->row[i].number)
			t->row[i].cpu = -1;
		t->row[i].pid = pid;
		t->row[i].number = tid;
	}
	return i;
}

uint32_t hodo_top_find_thread(const struct hodo_top_model *m, uint32_t pid, uint32_t tid)
{
	const struct hodo_map *rows = &m->table[HODO_TOP_THREADS].rows;
	const uint32_t key[] = { pid, tid };
	const struct hodo_top_row *row = hodo_map_find_bytes(rows, key, sizeof(key));

	return row ? hodo_map_index(rows, row) : HODO_TOP_NONE;
}

uint32_t hodo_top_cpu(struct hodo_top_model *m, uint32_t cpu)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_CPUS];
	uint32_t i = row_of(t, &cpu, sizeof(cpu));

	if (i != HODO_TOP_NONE)
		t->row[i].number = cpu;
	return i;
}

void hodo_top_rename(struct hodo_top_row *row, const char *name)
{
	if (row->name && strcmp(row->name, name) == 0)
		return;
	free(row->name);
	row->name = hodo_must(strdup(name));
}

/* ------------------------------------------------------------------ time, numbers */

static void each_count(struct hodo_top_model *m, void (*end)(struct hodo_top_count *c, double seconds),
		       double seconds)
{
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++)
		for (uint32_t i = 0; i < m->table[kind].n; i++)
			for (int k = 0; k < HODO_TOP_COUNTS; k++)
				end(&m->table[kind].row[i].count[k], seconds);
	for (int k = 0; k < HODO_TOP_COUNTS; k++)
		end(&m->count[k], seconds);
}

static void tick(struct hodo_top_count *c, double seconds)
{
	/* A hostile process's loss counts may decrease. */
	c->rate = c->total > c->last ? (double)(c->total - c->last) / seconds : 0;
	c->last = c->total;
}

void hodo_top_tick(struct hodo_top_model *m, int64_t now_ns)
{
	m->interval_ns = now_ns > m->tick_ns ? now_ns - m->tick_ns : 1;
	m->tick_ns = now_ns;
	each_count(m, tick, (double)m->interval_ns / 1e9);
	for (uint32_t i = 0; i < m->table[HODO_TOP_SPANS].n; i++)
		hodo_top_times_tick(&m->table[HODO_TOP_SPANS].row[i]);
}

static void reset(struct hodo_top_count *c, double seconds)
{
	c->base = c->total;
}

void hodo_top_reset(struct hodo_top_model *m, int64_t now_ns)
{
	each_count(m, reset, 0);
	m->causes_base = m->causes;
	m->limited_base = m->limited;
	m->reset_ns = now_ns;
	for (int kind = 0; kind < HODO_TOP_KINDS; kind++)
		for (uint32_t i = 0; i < m->table[kind].n; i++)
			hodo_top_times_reset(&m->table[kind].row[i]);
}

uint64_t hodo_top_since_reset(const struct hodo_top_count *c)
{
	return c->total > c->base ? c->total - c->base : 0;
}

double hodo_top_average(const struct hodo_top_model *m, const struct hodo_top_count *c)
{
	int64_t ns = m->tick_ns - m->reset_ns;

	/* Counts are as of the tick, and so is the time. */
	return ns > 0 && c->last > c->base ? (double)(c->last - c->base) * 1e9 / (double)ns : 0;
}

/* ------------------------------------------------------------------------ columns */

static struct hodo_cell average(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_f64(hodo_top_average(t->context, &((const struct hodo_top_row *)row)->events));
}

static struct hodo_cell since_reset(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_u64(hodo_top_since_reset((const struct hodo_top_count *)((const char *)row + c->offset)));
}

/* argument: the number's offset in struct hodo_top_times. None if there is no span yet. */
static struct hodo_cell spread(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_top_times *times = ((const struct hodo_top_row *)row)->times;
	const struct hodo_top_spread *s = !times ? NULL : c->offset ? &times->whole : &times->interval;

	if (!s || !s->n)
		return (struct hodo_cell){ .type = HODO_CELL_NULL };
	return hodo_cell_u64(*(const uint64_t *)(const void *)((const char *)s + (size_t)c->argument));
}

static struct hodo_cell open_spans(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_top_times *times = ((const struct hodo_top_row *)row)->times;

	return hodo_cell_u64(times ? times->open : 0);
}

static struct hodo_cell value(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_top_values *values = ((const struct hodo_top_row *)row)->values;

	if (!values)
		return (struct hodo_cell){ .type = HODO_CELL_NULL };
	return *(const struct hodo_cell *)(const void *)((const char *)values + (size_t)c->argument);
}

static struct hodo_cell on_cpu(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	double cpu = ((const struct hodo_top_row *)row)->cpu;

	return cpu < 0 ? (struct hodo_cell){ .type = HODO_CELL_NULL } : hodo_cell_f64(cpu);
}

#define ROW(name) HODO_MEMBER(struct hodo_top_row, name)
#define SPREAD(member, whole) \
	HODO_AS_TIME, .offset = (whole), .get = spread, .argument = offsetof(struct hodo_top_spread, member)
#define VALUE(member) HODO_AS_NUMBER, .get = value, .argument = offsetof(struct hodo_top_values, member)
static const struct hodo_column columns[HODO_TOP_COLUMNS] = {
	[HODO_TOP_NAME] = { "name", "EVENT", .flags = HODO_IDENTITY, ROW(name) },
	[HODO_TOP_PID] = { "pid", "PID", HODO_AS_ID, .flags = HODO_IDENTITY, ROW(pid) },
	[HODO_TOP_NUMBER] = { "number", "TID", HODO_AS_ID, .flags = HODO_IDENTITY, ROW(number) },
	/* Among idle ones, the busiest so far come first. */
	[HODO_TOP_RATE] = { "rate", "RATE/s", HODO_AS_RATE, ROW(events.rate), .then = &columns[HODO_TOP_TOTAL] },
	[HODO_TOP_AVERAGE] = { "average", "AVERAGE/s", HODO_AS_RATE, .get = average },
	[HODO_TOP_TOTAL] = { "total", "TOTAL", HODO_AS_COUNT, ROW(events), .get = since_reset },
	[HODO_TOP_BYTES] = { "bytes", "BYTES/s", HODO_AS_BYTES, ROW(bytes.rate) },
	[HODO_TOP_LOST] = { "lost", "LOST", HODO_AS_COUNT, ROW(lost), .get = since_reset },
	[HODO_TOP_STATE] = { "state", "STATE", HODO_AS_COUNT, ROW(state) },
	[HODO_TOP_P50] = { "p50", "P50", SPREAD(p50_ns, false) },
	[HODO_TOP_P99] = { "p99", "P99", SPREAD(p99_ns, false) },
	[HODO_TOP_MAX] = { "max", "MAX", SPREAD(max_ns, false) },
	[HODO_TOP_ALL_P50] = { "all_p50", "ALL P50", SPREAD(p50_ns, true) },
	[HODO_TOP_ALL_P99] = { "all_p99", "ALL P99", SPREAD(p99_ns, true) },
	[HODO_TOP_ALL_MAX] = { "all_max", "ALL MAX", SPREAD(max_ns, true) },
	[HODO_TOP_OPEN] = { "open", "OPEN", HODO_AS_COUNT, .get = open_spans },
	[HODO_TOP_LAST] = { "last", "LAST", VALUE(last) },
	[HODO_TOP_LEAST] = { "least", "LEAST", VALUE(least) },
	[HODO_TOP_MOST] = { "most", "MOST", VALUE(most) },
	[HODO_TOP_CPU] = { "cpu", "CPU", HODO_AS_NUMBER, .get = on_cpu },
};
const struct hodo_columns hodo_top_columns = { "rows", HODO_COLUMNS(columns) };

#define LOST(name) HODO_MEMBER(struct hodo_lost, name)
static const struct hodo_column causes[] = {
	{ "full", "buffer full", LOST(full) }, { "too_large", "too large", LOST(too_large) },
	{ "busy", "busy", LOST(busy) }, { "overwritten", "overwritten", LOST(overwritten) },
	{ "unwritten", "not seen", LOST(unwritten) }, { "damaged", "damaged", LOST(damaged) },
};
const struct hodo_columns hodo_top_causes = { "lost", HODO_COLUMNS(causes) };

/* -------------------------------------------------------------- sorting, filtering */

static bool matches(const struct hodo_top_row *row, enum hodo_top_kind kind, const char *glob)
{
	char number[16];

	if (kind == HODO_TOP_THREADS || kind == HODO_TOP_CPUS) {
		snprintf(number, sizeof(number), "%u", row->number);
		if (fnmatch(glob, number, 0) == 0)
			return true;
	}
	return row->name && fnmatch(glob, row->name, 0) == 0;
}

/* fnmatch()'s time grows fast with the number of stars, and it runs for each row, each time. */
static void bound_stars(char *glob)
{
	int stars = 0;

	for (char *p = glob; *p; p++)
		if (*p == '*' && ++stars > 4)
			*p = '?';
}

uint32_t hodo_top_order(const struct hodo_top_model *m, enum hodo_top_kind kind, enum hodo_top_column column,
			bool reverse, const char *glob, uint32_t **order)
{
	const struct hodo_top_table *t = &m->table[kind];
	const struct hodo_show look = { .sort = columns[column].key, .limit = UINT64_MAX, .reverse = reverse };
	struct hodo_table rows = { .columns = &hodo_top_columns, .context = m };
	char within[HODO_TOP_FILTER_MAX + 4] = "";

	if (glob && *glob)
		snprintf(within, sizeof(within), strpbrk(glob, "*?[") ? "%.*s" : "*%.*s*", HODO_TOP_FILTER_MAX, glob);
	bound_stars(within);
	*order = hodo_must(malloc((t->n + 1) * sizeof(**order)));
	rows.order = hodo_must(malloc((t->n + 1) * sizeof(*rows.order)));
	for (uint32_t i = 0; i < t->n; i++)
		if (!within[0] || matches(&t->row[i], kind, within))
			rows.order[rows.n++] = &t->row[i];
	hodo_table_arrange(&rows, &look);
	for (size_t i = 0; i < rows.n; i++)
		(*order)[i] = hodo_map_index(&t->rows, hodo_table_row(&rows, i));
	hodo_table_free(&rows);
	return (uint32_t)rows.n;
}
