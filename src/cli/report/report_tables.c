/* SPDX-License-Identifier: MIT */
/* report_tables.c - the tables of functions, events, spans, values and scheduling, and the whole report. */
#include "report.h"

#include <fnmatch.h>

static const struct hodo_stats_rows *rows_of(const struct hodo_table *t)
{
	return &((const struct report *)t->context)->stats.events.rows;
}

static enum hodo_stats_section section_of(const struct hodo_table *t)
{
	return (enum hodo_stats_section)(t->columns - report_columns);
}

static const struct hodo_stats_series *series_of(const struct hodo_table *t, const void *row)
{
	return hodo_stats_series_at(rows_of(t), hodo_stats_row_series(row));
}

static double seconds_of(const struct hodo_stats_events *ev)
{
	return (double)((uint64_t)ev->end_ns - (uint64_t)ev->begin_ns) / 1e9;
}

/* ------------------------------------------------------------------------- names */

static const char *name_of(const struct hodo_table *t, const void *row)
{
	return section_of(t) == HODO_STATS_FUNCTIONS ? ((const struct hodo_stats_function *)row)->name
						 : hodo_stats_series_name(series_of(t, row));
}

static struct hodo_cell name(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(name_of(t, row));
}

static struct hodo_cell group(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	return hodo_cell_string(hodo_stats_group_name(rows_of(t), hodo_stats_row_group(row)));
}

/* A property of a pair; argument: 0 its start, 1 its end, 2 what both share. */
static struct hodo_cell pair(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_pair *p = series_of(t, row)->pair;

	if (!p || c->argument < 2)
		return hodo_cell_string(!p ? NULL : c->argument < 1 ? p->begin : p->end);
	return hodo_cell_string(p->by ? p->by : "thread");
}

static void put_group(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const char *name = hodo_stats_group_name(rows_of(t), hodo_stats_row_group(row));

	if (!name)
		return;
	if (rows_of(t)->o->by == HODO_STATS_BY_FIELD && section_of(t) < HODO_STATS_RUNNING) {
		hodo_add_plain(to, rows_of(t)->o->by_text);
		hodo_text_char(to, '=');
	}
	hodo_add_plain(to, name);
}

/* What scheduling is split by, is so called. */
static void put_group_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	enum hodo_stats_by by = rows_of(t)->o->by;

	if (section_of(t) >= HODO_STATS_RUNNING)
		key = by == HODO_STATS_BY_CPU ? "cpu" : by == HODO_STATS_BY_PROCESS ? "process" :
		      by == HODO_STATS_BY_HOST ? "host" : "thread";
	hodo_json_string(j, key, hodo_stats_group_name(rows_of(t), hodo_stats_row_group(row)));
}

/* A number with a word, if it is not 0; separated from earlier ones by a space. */
static void put_noted(struct hodo_text *to, uint64_t n, const char *what, bool *any)
{
	char buf[32];

	if (!n)
		return;
	hodo_text_printf(to, "%s(%s %s)", *any ? " " : "", hodo_grouped(n, buf), what);
	*any = true;
}

static void put_unpaired(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_stats_row *r = row;
	bool any = false;

	put_noted(to, r->begins, "without end", &any);
	put_noted(to, r->ends, "without begin", &any);
}

static void put_unfinished(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	const struct hodo_stats_function *f = row;
	bool any = false;

	put_noted(to, f->left, "left", &any);
	put_noted(to, f->open, "open", &any);
	put_noted(to, f->exit_lost, f->exit_lost == 1 ? "exit lost" : "exits lost", &any);
}

static void put_found(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	hodo_json_bool(j, key, true);
}

/* ----------------------------------------------------------------------- figures */

/* A rate over no time at all says nothing. */
static struct hodo_cell per_second(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	double seconds = seconds_of(&((const struct report *)t->context)->stats.events);
	struct hodo_cell v = hodo_cell_f64(0);

	v.blank = seconds <= 0;
	if (!v.blank)
		v.f = (double)((const struct hodo_stats_times *)row)->n / seconds;
	return v;
}

/* The member at the offset; nothing if nothing was counted. */
static struct hodo_cell time_of(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	struct hodo_cell v = hodo_cell_u64(*(const uint64_t *)((const char *)row + c->offset));

	v.blank = !((const struct hodo_stats_times *)row)->n;
	return v;
}

static struct hodo_cell time_avg(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_times *times = row;
	struct hodo_cell v = hodo_cell_f64(times->n ? (double)times->sum_ns / (double)times->n : 0);

	v.blank = !times->n;
	return v;
}

/* Sum over the spans for which it is known; empty if there are none. */
static struct hodo_cell off_cpu(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_row *r = row;

	return r->off_n ? hodo_cell_u64(r->off_ns) : hodo_cell_string(NULL);
}

static struct hodo_cell off_cpu_count(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_row *r = row;

	return r->off_n ? hodo_cell_u64(r->off_n) : hodo_cell_string(NULL);
}

/* argument: the quantile. */
static struct hodo_cell time_at(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_times *times = row;
	struct hodo_cell v = times->histogram ? hodo_cell_u64(hodo_stats_times_at(times, c->argument)) :
						hodo_cell_string(NULL);

	v.blank = !times->n || !times->histogram;
	return v;
}

/* The member at the offset, else the quantile of the argument, else the mean. */
static struct hodo_cell number_of(const struct hodo_table *t, const struct hodo_column *c, const void *row)
{
	const struct hodo_stats_row *r = row;
	struct hodo_histogram *h = r->times.histogram;
	struct hodo_cell v = hodo_cell_string(NULL);
	double n;

	v.blank = !h || !h->n;
	if (v.blank)
		return v;
	if (c->offset)
		return hodo_cell_f64(*(const double *)((const char *)row + c->offset));
	n = c->argument > 0 ? hodo_histogram_at(h, c->argument) : r->sum / (double)h->n;
	return hodo_cell_f64(c->argument <= 0 || (n >= r->min && n <= r->max) ? n : n < r->min ? r->min : r->max);
}

/* --------------------------------------------------------------------- histograms */

/* The bars of a row; -1: not wanted, or none. */
static int bars_of(const struct hodo_table *t, const void *row, struct report_bar bars[REPORT_BARS_MAX])
{
	const struct report_options *o = ((const struct report *)t->context)->o;
	const struct hodo_stats_times *times = row;

	if (!o->histogram || !times->histogram ||
	    (o->histogram_of && fnmatch(o->histogram_of, name_of(t, row), 0) != 0))
		return -1;
	return report_bars(times->histogram, bars);
}

static void put_histogram_json(struct hodo_json *j, const char *key, const struct hodo_table *t, const void *row)
{
	struct report_bar bars[REPORT_BARS_MAX];
	int n = bars_of(t, row, bars);

	if (n >= 0)
		report_bars_put_json(j, key, bars, n);
}

static void put_histogram(struct hodo_text *to, const struct hodo_table *t, const void *row)
{
	enum hodo_stats_section section = section_of(t);
	struct report_bar bars[REPORT_BARS_MAX];
	int n = bars_of(t, row, bars);

	if (n <= 0)
		return;
	hodo_text_char(to, '\n');
	if (section < HODO_STATS_RUNNING)
		hodo_add_plain(to, name_of(t, row));
	if (section != HODO_STATS_FUNCTIONS) {
		hodo_text_add(to, hodo_stats_row_group(row) && section < HODO_STATS_RUNNING ? "  " : "");
		put_group(to, t, row);
	}
	hodo_text_add(to, section == HODO_STATS_LATENCY ? ", from wake-up to running:\n" : ":\n");
	report_bars_put(to, bars, n, section != HODO_STATS_VALUES);
}

/* ------------------------------------------------------------------------ columns */

#define ROW(name) HODO_MEMBER(struct hodo_stats_row, name)
#define NAME(key, title, width) { key, title, HODO_AS_TEXT, width, HODO_IDENTITY, .get = name, .also = "name" }
#define GROUP(title)                                                                                                   \
	{ "group", title, .flags = HODO_IDENTITY, .get = group, .put = put_group, .put_json = put_group_json,          \
	  .also = "thread" }
#define FIGURES                                                                                                        \
	{ "count", .as = HODO_AS_COUNT, .width = 12, ROW(times.n), .also = "calls" },                                  \
	{ "per_second", .as = HODO_AS_RATE, .width = 12, .get = per_second }
#define TIMES                                                                                                          \
	FIGURES,                                                                                                       \
	{ "total_ns", "TOTAL", HODO_AS_TIME, 10, ROW(times.sum_ns), .get = time_of },                                  \
	{ "avg_ns", "AVG", HODO_AS_AVERAGE, 10, .get = time_avg },                                                     \
	{ "min_ns", "MIN", HODO_AS_TIME, 10, ROW(times.min_ns), .get = time_of }
#define QUANTILES                                                                                                      \
	{ "p50_ns", "P50", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.5 },                         \
	{ "p90_ns", "P90", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.9 },                         \
	{ "p99_ns", "P99", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.99 },                        \
	{ "p999_ns", "P99.9", HODO_AS_TIME, 10, HODO_OPTIONAL, .get = time_at, .argument = 0.999 }
#define MAX { "max_ns", "MAX", HODO_AS_TIME, 10, ROW(times.max_ns), .get = time_of }
#define HISTOGRAM { "histogram", .as = HODO_AS_JSON, .flags = HODO_NO_DIFF, .put_json = put_histogram_json }
#define NUMBER(key, title, ...)                                                                                        \
	{ key, title, HODO_AS_NUMBER, 11, HODO_OPTIONAL | HODO_CLOSE, .get = number_of, ##__VA_ARGS__ }

#define FUNCTION(name) HODO_MEMBER(struct hodo_stats_function, name)
static const struct hodo_column function_columns[] = {
	{ "function", .flags = HODO_IDENTITY, FUNCTION(name), .also = "name" },
	{ "object", .flags = HODO_NO_DIFF, FUNCTION(object) },
	{ "found", .as = HODO_AS_JSON, .flags = HODO_DIFF_ONLY, .put_json = put_found },
	{ "calls", .as = HODO_AS_COUNT, .width = 12, FUNCTION(calls), .also = "count" },
	{ "left", .as = HODO_AS_COUNT, FUNCTION(left) },
	{ "open", .as = HODO_AS_COUNT, FUNCTION(open) },
	{ "exit_lost", .as = HODO_AS_COUNT, FUNCTION(exit_lost) },
	{ "no_exit", .as = HODO_AS_COUNT, FUNCTION(no_exit) },
	{ "total_ns", .as = HODO_AS_TIME, .width = 10, FUNCTION(total_ns), .get = time_of },
	{ "self_ns", .as = HODO_AS_TIME, .width = 10, FUNCTION(self_ns), .get = time_of },
	{ "avg_ns", .as = HODO_AS_AVERAGE, .width = 10, .get = time_avg },
	{ "min_ns", .as = HODO_AS_TIME, .width = 10, FUNCTION(times.min_ns), .get = time_of },
	{ "p50_ns", .as = HODO_AS_TIME, .width = 10, .get = time_at, .argument = 0.5 },
	{ "p99_ns", .as = HODO_AS_TIME, .width = 10, .get = time_at, .argument = 0.99 },
	{ "max_ns", .as = HODO_AS_TIME, .width = 10, FUNCTION(times.max_ns), .get = time_of },
	{ "unfinished", .flags = HODO_TEXT_ONLY | HODO_NOTE, .put = put_unfinished },
	HISTOGRAM,
};
static const struct hodo_column event_columns[] = { NAME("name", "EVENT", 0), GROUP(""), FIGURES };
static const struct hodo_column span_columns[] = {
	NAME("name", "SPAN", 0), GROUP(""),
	{ "begin", .flags = HODO_IDENTITY | HODO_OPTIONAL, .get = pair },
	{ "end", .flags = HODO_IDENTITY | HODO_OPTIONAL, .get = pair, .argument = 1 },
	{ "pair_by", .flags = HODO_IDENTITY | HODO_OPTIONAL, .get = pair, .argument = 2 },
	TIMES, QUANTILES, MAX,
	{ "off_cpu_ns", "OFF CPU", HODO_AS_TIME, 10, HODO_OPTIONAL | HODO_IF_ANY, .get = off_cpu },
	{ "off_cpu_count", "KNOWN", HODO_AS_COUNT, .flags = HODO_OPTIONAL, .get = off_cpu_count },
	{ "unpaired_begins", .as = HODO_AS_COUNT, ROW(begins) },
	{ "unpaired_ends", .as = HODO_AS_COUNT, ROW(ends) },
	{ "unpaired", .flags = HODO_TEXT_ONLY | HODO_NOTE, .put = put_unpaired },
	HISTOGRAM,
};
static const struct hodo_column value_columns[] = {
	NAME("name", "VALUE", 0), GROUP(""), FIGURES,
	NUMBER("avg", "AVG"), NUMBER("min", "MIN", ROW(min)), NUMBER("p50", "P50", .argument = 0.5),
	NUMBER("p90", "P90", .argument = 0.9), NUMBER("p99", "P99", .argument = 0.99),
	NUMBER("p999", "P99.9", .argument = 0.999), NUMBER("max", "MAX", ROW(max)),
	NUMBER("last", "LAST", ROW(last)),
	HISTOGRAM,
};
static const struct hodo_column latency_columns[] = {
	NAME("name", NULL, 0), GROUP("THREAD"), TIMES, QUANTILES, MAX, HISTOGRAM,
};
static const struct hodo_column running_columns[] = { NAME("name", NULL, 0), GROUP("THREAD"), TIMES, MAX };
static const struct hodo_column off_columns[] = { NAME("why", NULL, 9), GROUP("THREAD"), TIMES, MAX };

#define TABLE(key, columns) { key, HODO_COLUMNS(columns), .head = HODO_DIM
#define ALL_TIMES "count,per_second,total,avg,p50,p90,p99,p999,max,"
const struct hodo_columns report_columns[HODO_STATS_SECTIONS] = {
	[HODO_STATS_FUNCTIONS] = { "functions", HODO_COLUMNS(function_columns), .sort = "total",
			       .text = "calls,total,self,avg,min,p50,p99,max,function,unfinished",
			       .diff = "total,self,avg,calls" },
	[HODO_STATS_EVENTS] = TABLE("events", event_columns), .sort = "count", .text = "count,per_second,name,group",
				.diff = "count" },
	[HODO_STATS_SPANS] = TABLE("spans", span_columns), .sort = "total",
			       .text = "count,per_second,total,off_cpu,avg,p50,p90,p99,p999,max,name,group,unpaired",
			       .diff = "p50,p99,max,count" },
	[HODO_STATS_VALUES] = TABLE("values", value_columns), .sort = "count",
				.text = "count,avg,min,p50,p90,p99,p999,max,last,name,group",
				.diff = "p50,p99,max,count" },
	[HODO_STATS_RUNNING] = TABLE("running", running_columns), .sort = "total", .text = "count,total,avg,max,group",
				 .diff = "total,max,count" },
	[HODO_STATS_OFF] = TABLE("off_cpu", off_columns), .sort = "total", .text = "count,total,avg,max,why,group",
			     .diff = "total,max,count" },
	[HODO_STATS_LATENCY] = TABLE("latency", latency_columns), .sort = "total", .text = ALL_TIMES "group",
				 .diff = "p50,p99,max,count" },
};

/* ------------------------------------------------------------------------- tables */

static bool is_empty(const struct hodo_stats_row *row)
{
	return !row->times.n && !row->begins && !row->ends;
}

/*
 * The rows of a section. Requested but missing series are shown empty; groups only if they exist, or, if two
 * recordings are compared, exist in one.
 */
static struct hodo_table make_table(const struct report *rep, enum hodo_stats_section section)
{
	const struct hodo_stats_rows *rows = &rep->stats.events.rows;
	struct hodo_table t = { .columns = &report_columns[section], .context = rep };

	if (section == HODO_STATS_FUNCTIONS) {
		t.first = rep->stats.functions.entries;
		t.n = rep->stats.functions.n;
		t.stride = rep->stats.functions.entry_bytes;
	} else {
		t.order = hodo_must(calloc((size_t)rows->rows.n + 1, sizeof(*t.order)));
	}
	for (uint32_t i = 0; t.order && i < rows->rows.n; i++) {
		const struct hodo_stats_row *row = hodo_map_at(&rows->rows, i);

		if (series_of(&t, row)->section == section &&
		    !(is_empty(row) && (rows->o->compares ||
					(!hodo_stats_row_group(row) && rows->o->by != HODO_STATS_BY_NONE))))
			t.order[t.n++] = row;
	}
	hodo_table_arrange(&t, &rep->o->args.look);
	return t;
}

/* The title of a section's table; functions have none. */
static const char *title_of(enum hodo_stats_section section, bool color, bool first, char buf[64])
{
	static const char *const titles[HODO_STATS_SECTIONS] = { NULL, "Events", "Spans and pairs", "Values", "On CPUs",
							     "Off CPUs, and why", "From wake-up to running" };

	if (section == HODO_STATS_FUNCTIONS)
		return "";
	snprintf(buf, 64, "%s%s%s:%s\n", first ? "" : "\n", hodo_style(color, HODO_HEADING), titles[section],
		 hodo_style(color, HODO_PLAIN));
	return buf;
}

/* ------------------------------------------------------------------------- report */

static bool has_functions(const struct report *rep)
{
	const struct hodo_stats *s = &rep->stats;

	return s->functions.n || s->lists.stacks.n || s->lists.held.n || s->lists.wrong.n || s->totals.orphans;
}

bool report_empty(const struct report *rep)
{
	return !has_functions(rep) && !rep->stats.events.rows.rows.n;
}

/* Returns whether it was written: there are rows, and a column to show. */
static bool put_table(struct hodo_text *to, const struct hodo_table *t, bool color, bool first)
{
	const struct hodo_column *columns[HODO_COLUMNS_MAX];
	char title[64];

	if (!t->n || !hodo_table_columns(t, false, columns))
		return false;
	hodo_text_add(to, title_of(section_of(t), color, first, title));
	return hodo_table_put(to, t, color);
}

static void put_text(struct hodo_text *to, const struct report *rep, bool color)
{
	bool first = !has_functions(rep), any = false;
	char buf[32];

	for (unsigned i = 0; i < HODO_STATS_SECTIONS; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(rep, i);

		if (put_table(to, &t, color, first && !any) && i != HODO_STATS_FUNCTIONS)
			any = true;
		if (i == HODO_STATS_FUNCTIONS && rep->stats.totals.orphans)
			hodo_text_printf(to, "exits of calls that are not in the recording: %s\n",
					 hodo_grouped(rep->stats.totals.orphans, buf));
		for (size_t k = 0; k < t.n - t.hidden; k++)
			put_histogram(to, &t, hodo_table_row(&t, k));
		if (i == HODO_STATS_FUNCTIONS)
			report_lists_put(to, &rep->stats.lists);
	}
	report_slowest_put(to, rep);
	if (any)
		hodo_text_printf(to, "\nin %.9f s\n", seconds_of(&rep->stats.events));
}

static void put_totals(struct hodo_json *j, const struct report *rep)
{
	struct hodo_read_lost lost = hodo_read_lost(rep->r, NULL);

	hodo_json_u64(j, "calls", rep->stats.totals.calls);
	hodo_json_u64(j, "returned", rep->stats.totals.returned);
	hodo_json_u64(j, "left", rep->stats.totals.left);
	hodo_json_u64(j, "open", rep->stats.totals.open);
	hodo_json_u64(j, "exit_lost", rep->stats.totals.exit_lost);
	hodo_json_u64(j, "orphans", rep->stats.totals.orphans);
	hodo_json_u64(j, "lost", hodo_lost_all(&lost));
	report_lists_put_json(j, &rep->stats.lists);
}

static void put_json(struct hodo_json *j, const struct report *rep)
{
	const struct hodo_stats_events *ev = &rep->stats.events;

	for (unsigned i = 0; i < HODO_STATS_SECTIONS; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(rep, i);

		hodo_table_put_json(j, report_columns[i].name, &t);
		if (i == HODO_STATS_FUNCTIONS)
			put_totals(j, rep);
	}
	report_slowest_put_json(j, rep);
	hodo_json_string(j, "by", ev->o->by_text);
	hodo_json_u64(j, "duration_ns", (uint64_t)ev->end_ns - (uint64_t)ev->begin_ns);
	hodo_json_u64(j, "dropped_begins", ev->findings.dropped);
	hodo_json_u64(j, "unsure_times", ev->findings.unsure_times);
	hodo_json_u64(j, "unsure_spans", ev->findings.unsure_spans);
}

static void put_diff(struct hodo_page *page, const struct report *before, const struct report *after)
{
	const struct hodo_show *look = &page->args->look;
	bool first = true;

	for (unsigned i = 0; i < HODO_STATS_SECTIONS; i++) {
		HODO_AUTO(hodo_table_free) struct hodo_table t = make_table(before, i);
		HODO_AUTO(hodo_table_free) struct hodo_table u = make_table(after, i);
		char title[64];

		first &= !hodo_table_diff(&page->text, &page->json, t.columns->name, &t, &u, look,
					  title_of(i, look->color, first, title));
	}
}

void report_put(struct hodo_page *page, const struct report *rep, const struct report *other)
{
	if (other)
		put_diff(page, rep, other);
	else if (page->args->look.json)
		put_json(&page->json, rep);
	else
		put_text(&page->text, rep, page->args->look.color);
}
