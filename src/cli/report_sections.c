/* SPDX-License-Identifier: MIT */
/* report_sections.c - the tables of events, spans, values and scheduling. */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Of a table. */
struct context {
	const struct report_events *ev;
	const struct report_look *look;
};

static const struct report_series *series_of(const struct hodo_table *t, const void *row)
{
	return &((const struct context *)t->context)->ev->rows.series[((const struct report_stat *)row)->series];
}

static double seconds_of(const struct report_events *ev)
{
	return (double)((uint64_t)ev->end_ns - (uint64_t)ev->begin_ns) / 1e9;
}

/* ------------------------------------------------------------------------- names */

static struct hodo_cell name(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(series_of(t, row)->name);
}

/* What is said of a pair; argument: 0 its begin, 1 its end, 2 what both share. */
static struct hodo_cell pair(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct report_pair *p = series_of(t, row)->pair;

	if (!p || c->argument < 2)
		return hodo_cell_string(!p ? NULL : c->argument < 1 ? p->begin : p->end);
	return hodo_cell_string(p->by ? p->by : "thread");
}

static void put_group(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct report_options *o = ((const struct context *)t->context)->ev->o;
	const struct report_stat *s = row;

	if (!s->group)
		return;
	if (o->by == REPORT_BY_FIELD && series_of(t, row)->section < REPORT_RUNNING) {
		hodo_add_plain(to, o->by_field);
		hodo_text_char(to, '=');
	}
	hodo_add_plain(to, s->group);
}

/* What scheduling is split by, is so called. */
static void put_group_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	enum report_by by = ((const struct context *)t->context)->ev->o->by;

	if (series_of(t, row)->section >= REPORT_RUNNING)
		key = by == REPORT_BY_CPU ? "cpu" : by == REPORT_BY_PROCESS ? "process" : "thread";
	hodo_json_string(j, key, ((const struct report_stat *)row)->group);
}

static void put_unpaired(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct report_stat *s = row;
	char buf[32];

	if (s->begins)
		hodo_text_printf(to, "(%s without end)", hodo_grouped(s->begins, buf));
	if (s->ends)
		hodo_text_printf(to, "%s(%s without begin)", s->begins ? " " : "", hodo_grouped(s->ends, buf));
}

/* ----------------------------------------------------------------------- figures */

/* A rate over no time at all says nothing. */
static struct hodo_cell per_second(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	double seconds = seconds_of(((const struct context *)t->context)->ev);
	struct hodo_cell v = hodo_cell_f64(0);

	v.blank = seconds <= 0;
	if (!v.blank)
		v.f = (double)((const struct report_stat *)row)->count / seconds;
	return v;
}

/* The member at the offset; nothing where nothing was counted. */
static struct hodo_cell time_of(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct report_stat *s = row;
	struct hodo_cell v = hodo_cell_u64(*(const uint64_t *)((const char *)row + c->offset));

	v.blank = !s->count;
	if (!s->count && c->offset == offsetof(struct report_stat, min_ns))
		v.u = 0;
	return v;
}

static struct hodo_cell time_avg(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v = hodo_cell_f64(report_stat_avg(row));

	v.blank = !((const struct report_stat *)row)->count;
	return v;
}

/* argument: the quantile. */
static struct hodo_cell time_at(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct report_stat *s = row;
	struct hodo_cell v = s->times ? hodo_cell_u64(report_stat_at(s, c->argument)) : hodo_cell_string(NULL);

	v.blank = !s->count || !s->times;
	return v;
}

static struct hodo_cell number_cell(const struct report_stat *s, double (*of)(const struct report_numbers *, double),
				    double argument)
{
	const struct report_numbers *n = s->numbers;
	struct hodo_cell v = n && n->n ? hodo_cell_f64(of(n, argument)) : hodo_cell_string(NULL);

	v.blank = !n || !n->n;
	return v;
}

static struct hodo_cell number_at(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return number_cell(row, report_numbers_at, c->argument);
}

/* argument: where in the numbers it stands; 0: the mean. */
static double number_member(const struct report_numbers *n, double offset)
{
	return offset > 0 ? *(const double *)((const char *)n + (size_t)offset) : n->sum / (double)n->n;
}

static struct hodo_cell number_of(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return number_cell(row, number_member, c->argument);
}

/* --------------------------------------------------------------------- histograms */

bool report_histogram_wanted(const struct report_look *look, const char *name)
{
	return look->histogram && (!look->histogram_of || fnmatch(look->histogram_of, name, 0) == 0);
}

static int bars_of(const struct report_stat *row, struct report_bar bars[REPORT_BARS_MAX])
{
	return row->times ? report_bars_times(row->times, bars, REPORT_BARS_MAX)
			  : report_bars_numbers(row->numbers, bars, REPORT_BARS_MAX);
}

static void put_histogram_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	const struct report_stat *s = row;
	struct report_bar bars[REPORT_BARS_MAX];

	if ((s->times || s->numbers) &&
	    report_histogram_wanted(((const struct context *)t->context)->look, series_of(t, row)->name))
		report_bars_put_json(j, key, bars, bars_of(s, bars));
}

static void put_histogram(struct hodo_text *to, const struct hodo_table *t, const struct report_stat *row)
{
	struct report_bar bars[REPORT_BARS_MAX];
	enum report_section section = series_of(t, row)->section;
	int n = bars_of(row, bars);

	if (n <= 0)
		return;
	hodo_text_char(to, '\n');
	if (section < REPORT_RUNNING)
		hodo_add_plain(to, series_of(t, row)->name);
	hodo_text_add(to, row->group && section < REPORT_RUNNING ? "  " : "");
	put_group(to, t, row);
	hodo_text_add(to, section == REPORT_LATENCY ? ", from wake-up to running:\n" : ":\n");
	report_bars_put(to, bars, n, row->times != NULL);
}

/* ------------------------------------------------------------------------ columns */

#define ROW(name) HODO_MEMBER(struct report_stat, name)
#define NAME(key, title, width) { key, title, HODO_AS_TEXT, width, HODO_IDENTITY, .get = name, .also = "name" }
#define GROUP(title)                                                                                                   \
	{ "group", title, .flags = HODO_IDENTITY, ROW(group), .put = put_group, .put_json = put_group_json,            \
	  .also = "thread" }
#define FIGURES                                                                                                        \
	{ "count", .as = HODO_AS_COUNT, .width = 12, ROW(count), .also = "calls" },                                    \
	{ "per_second", .as = HODO_AS_RATE, .width = 12, .get = per_second }
#define TIMES                                                                                                          \
	FIGURES,                                                                                                       \
	{ "total_ns", "TOTAL", HODO_AS_TIME, 10, ROW(sum_ns), .get = time_of },                                        \
	{ "avg_ns", "AVG", HODO_AS_AVERAGE, 10, .get = time_avg },                                                     \
	{ "min_ns", "MIN", HODO_AS_TIME, 10, ROW(min_ns), .get = time_of }
#define QUANTILES                                                                                                      \
	{ "p50_ns", "P50", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.5 },                         \
	{ "p90_ns", "P90", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.9 },                         \
	{ "p99_ns", "P99", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.99 },                        \
	{ "p999_ns", "P99.9", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.999 }
#define MAX { "max_ns", "MAX", HODO_AS_TIME, 10, ROW(max_ns), .get = time_of }
#define HISTOGRAM { "histogram", .as = HODO_AS_JSON, .flags = HODO_NO_DIFF, .put_json = put_histogram_json }
#define NUMBER(key, title, function, value)                                                                            \
	{ key, title, HODO_AS_NUMBER, 11, HODO_OPTIONAL | HODO_CLOSE, .get = function, .argument = value }
#define NUMBERS(name) offsetof(struct report_numbers, name)

static const struct hodo_column event_columns[] = { NAME("name", "EVENT", 0), GROUP(""), FIGURES };
static const struct hodo_column span_columns[] = {
	NAME("name", "SPAN", 0), GROUP(""),
	{ "begin", .flags = HODO_IDENTITY | HODO_OPTIONAL, .get = pair },
	{ "end", .flags = HODO_IDENTITY | HODO_OPTIONAL, .get = pair, .argument = 1 },
	{ "pair_by", .flags = HODO_IDENTITY | HODO_OPTIONAL, .get = pair, .argument = 2 },
	TIMES, QUANTILES, MAX,
	{ "unpaired_begins", .as = HODO_AS_COUNT, ROW(begins) },
	{ "unpaired_ends", .as = HODO_AS_COUNT, ROW(ends) },
	{ "unpaired", .flags = HODO_TEXT_ONLY | HODO_NOTE, .put = put_unpaired },
	HISTOGRAM,
};
static const struct hodo_column value_columns[] = {
	NAME("name", "VALUE", 0), GROUP(""), FIGURES,
	NUMBER("avg", "AVG", number_of, 0), NUMBER("min", "MIN", number_of, NUMBERS(min)),
	NUMBER("p50", "P50", number_at, 0.5), NUMBER("p90", "P90", number_at, 0.9),
	NUMBER("p99", "P99", number_at, 0.99), NUMBER("p999", "P99.9", number_at, 0.999),
	NUMBER("max", "MAX", number_of, NUMBERS(max)), NUMBER("last", "LAST", number_of, NUMBERS(last)),
	HISTOGRAM,
};
static const struct hodo_column latency_columns[] = {
	NAME("name", NULL, 0), GROUP("THREAD"), TIMES, QUANTILES, MAX, HISTOGRAM,
};
static const struct hodo_column running_columns[] = { NAME("name", NULL, 0), GROUP("THREAD"), TIMES, MAX };
static const struct hodo_column off_columns[] = { NAME("why", NULL, 9), GROUP("THREAD"), TIMES, MAX };

#define TABLE(key, columns) { key, HODO_COLUMNS(columns), .head = HODO_DIM
#define ALL_TIMES "count,per_second,total,avg,p50,p90,p99,p999,max,"
const struct hodo_columns report_sections[REPORT_SECTIONS] = {
	[REPORT_EVENTS] = TABLE("events", event_columns), .sort = "count", .text = "count,per_second,name,group",
				.diff = "count" },
	[REPORT_SPANS] = TABLE("spans", span_columns), .sort = "total", .text = ALL_TIMES "name,group,unpaired",
			       .diff = "p50,p99,max,count" },
	[REPORT_VALUES] = TABLE("values", value_columns), .sort = "count",
				.text = "count,avg,min,p50,p90,p99,p999,max,last,name,group",
				.diff = "p50,p99,max,count" },
	[REPORT_RUNNING] = TABLE("running", running_columns), .sort = "total", .text = "count,total,avg,max,group",
				 .diff = "total,max,count" },
	[REPORT_OFF] = TABLE("off_cpu", off_columns), .sort = "total", .text = "count,total,avg,max,why,group",
			     .diff = "total,max,count" },
	[REPORT_LATENCY] = TABLE("latency", latency_columns), .sort = "total", .text = ALL_TIMES "group",
				 .diff = "p50,p99,max,count" },
};

/* ------------------------------------------------------------------------- tables */

static bool is_empty(const struct report_stat *row)
{
	return !row->count && !row->begins && !row->ends;
}

/*
 * The rows of a section. What was asked for and is not there is shown with nothing in it; of groups those that are,
 * and where two recordings are compared, those that are in one. *rows is the caller's to free. 0 or -ENOMEM.
 */
static int make_table(struct hodo_table *t, const struct context *c, unsigned section, const void ***rows)
{
	const struct report_events *ev = c->ev;

	*t = (struct hodo_table){ .columns = &report_sections[section], .context = c };
	*rows = calloc((size_t)ev->rows.n + 1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	t->first = *rows;
	for (uint32_t i = 0; i < ev->rows.n; i++) {
		const struct report_stat *row = &ev->rows.all[i];

		if (ev->rows.series[row->series].section == section &&
		    !(is_empty(row) && (ev->o->diff || (!row->group && ev->o->by != REPORT_BY_NONE))))
			(*rows)[t->n++] = row;
	}
	return hodo_table_arrange(t, &c->look->table);
}

static char *title_of(unsigned section, bool color, bool first, char buf[64])
{
	static const char *const titles[REPORT_SECTIONS] = { "Events", "Spans and pairs", "Values", "On CPUs",
							     "Off CPUs, and why", "From wake-up to running" };

	snprintf(buf, 64, "%s%s%s:%s\n", first ? "" : "\n", hodo_style(color, HODO_HEADING), titles[section],
		 hodo_style(color, HODO_PLAIN));
	return buf;
}

int report_put_sections(struct hodo_text *to, const struct report_events *ev, const struct report_look *look,
			bool first)
{
	const struct context context = { ev, look };
	bool any = false;
	int err = 0;

	for (unsigned i = 0; i < REPORT_SECTIONS && !err; i++) {
		const struct hodo_column *columns[HODO_COLUMNS_MAX];
		struct hodo_table t;
		const void **rows;
		char title[64];

		err = make_table(&t, &context, i, &rows);
		if (!err && t.n && hodo_table_columns(&t, false, columns)) {
			hodo_text_add(to, title_of(i, look->table.color, first && !any, title));
			hodo_table_put(to, &t, look->table.color);
			any = true;
		}
		for (size_t k = 0; !err && k < t.n - t.hidden; k++) {
			const struct report_stat *row = hodo_table_row(&t, k);

			if ((row->times || row->numbers) && row->count &&
			    report_histogram_wanted(look, ev->rows.series[row->series].name))
				put_histogram(to, &t, row);
		}
		hodo_table_free(&t);
		free(rows);
	}
	if (any)
		hodo_text_printf(to, "\nin %.9f s\n", seconds_of(ev));
	return err;
}

int report_put_sections_json(struct hodo_json *j, const struct report_events *ev, const struct report_look *look)
{
	static const char *const bys[] = { NULL, "thread", "cpu", "process" };
	const struct context context = { ev, look };
	int err = 0;

	for (unsigned i = 0; i < REPORT_SECTIONS && !err; i++) {
		struct hodo_table t;
		const void **rows;

		err = make_table(&t, &context, i, &rows);
		if (!err)
			hodo_table_put_json(j, report_sections[i].name, &t);
		hodo_table_free(&t);
		free(rows);
	}
	hodo_json_string(j, "by", ev->o->by == REPORT_BY_FIELD ? ev->o->by_field : bys[ev->o->by]);
	hodo_json_u64(j, "duration_ns", (uint64_t)ev->end_ns - (uint64_t)ev->begin_ns);
	hodo_json_u64(j, "dropped_begins", ev->findings.dropped);
	hodo_json_u64(j, "unsure_times", ev->findings.unsure_times);
	hodo_json_u64(j, "unsure_spans", ev->findings.unsure_spans);
	return err;
}

int report_put_sections_diff(struct hodo_text *to, struct hodo_json *j, const struct report_events *before,
			     const struct report_events *after, const struct report_look *look, bool first)
{
	const struct context context[] = { { before, look }, { after, look } };
	long n = 0;

	for (unsigned i = 0; i < REPORT_SECTIONS && n >= 0; i++) {
		struct hodo_table side[2] = { 0 };
		const void **rows[2] = { NULL, NULL };
		char title[64];

		n = make_table(&side[0], &context[0], i, &rows[0]);
		n = n ? n : make_table(&side[1], &context[1], i, &rows[1]);
		if (n == 0)
			n = hodo_table_diff(to, j, report_sections[i].name, &side[0], &side[1], &look->table,
					    title_of(i, look->table.color, first, title));
		first &= n == 0;
		for (unsigned k = 0; k < 2; k++) {
			hodo_table_free(&side[k]);
			free(rows[k]);
		}
	}
	return n < 0 ? -ENOMEM : 0;
}
