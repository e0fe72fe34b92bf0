/* SPDX-License-Identifier: MIT */
/* report_sections.c - rows of events, spans, values and scheduling as text and as JSON. */
#define _GNU_SOURCE
#include "report_events.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const report_section_titles[REPORT_SECTIONS] = {
	"Events", "Spans and pairs", "Values", "On CPUs", "Off CPUs, and why", "From wake-up to running",
};
const char *const report_section_keys[REPORT_SECTIONS] = { "events", "spans", "values", "running", "off_cpu",
							   "latency" };
static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
static const char *const quantile_names[] = { "p50", "p90", "p99", "p999" };
#define QUANTILES 4u

/* ------------------------------------------------------------------------ order */

static enum report_section section_of(const struct report_events *ev, const struct report_stat *row)
{
	return ev->series[row->series].section;
}

static double number_at(const struct report_stat *row, double q)
{
	return row->numbers && row->numbers->n ? report_numbers_at(row->numbers, q) : 0;
}

/* The mean of infinities of both signs is no number, and an order needs one: it goes last. */
static double mean_key(const struct report_numbers *n)
{
	double mean = n->n ? n->sum / (double)n->n : 0;

	return isnan(mean) ? -INFINITY : mean;
}

double report_stat_key(const struct report_events *ev, const struct report_stat *row, enum report_sort sort)
{
	const struct report_numbers *n = row->numbers;
	enum report_section section = section_of(ev, row);

	if (section == REPORT_EVENTS || sort == REPORT_SORT_CALLS)
		return sort == REPORT_SORT_NAME ? 0 : (double)row->count;
	switch (sort) {
	case REPORT_SORT_AVG:
		return n ? mean_key(n) : report_stat_avg(row);
	case REPORT_SORT_P50:
		return section == REPORT_VALUES ? number_at(row, 0.5) : (double)report_stat_at(row, 0.5);
	case REPORT_SORT_P99:
		return section == REPORT_VALUES ? number_at(row, 0.99) : (double)report_stat_at(row, 0.99);
	case REPORT_SORT_MAX:
		return n ? n->max : (double)row->max_ns;
	case REPORT_SORT_MIN:
		return n ? n->min : row->count ? (double)row->min_ns : 0;
	case REPORT_SORT_NAME:
		return 0;
	default:
		return section == REPORT_VALUES ? (double)row->count : (double)row->sum_ns;
	}
}

struct item {
	const struct report_stat *row;
	const char *name;
	double key;
};

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int names;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	names = strcmp(x->name, y->name);
	if (names)
		return names;
	names = strcmp(x->row->group ? x->row->group : "", y->row->group ? y->row->group : "");
	return names ? names : x->row < y->row ? -1 : 1;
}

/* The rows of a section, in order; the caller frees them. NULL: none, or no memory. */
static struct item *sorted(const struct report_events *ev, enum report_section section, enum report_sort sort,
			   uint32_t *n)
{
	struct item *items = NULL;

	*n = 0;
	for (uint32_t i = 0; i < ev->nrows; i++)
		*n += section_of(ev, &ev->rows[i]) == section;
	if (*n)
		items = calloc(*n, sizeof(*items));
	*n = 0;
	for (uint32_t i = 0; items && i < ev->nrows; i++) {
		const struct report_stat *row = &ev->rows[i];

		/* What was asked for and is not there is told; of groups, those that are. */
		if (section_of(ev, row) != section ||
		    (!row->group && !row->count && !row->begins && !row->ends && ev->o->by != REPORT_BY_NONE))
			continue;
		items[(*n)++] = (struct item){ row, ev->series[row->series].name, report_stat_key(ev, row, sort) };
	}
	if (items)
		qsort(items, *n, sizeof(*items), by_key);
	return items;
}

/* ------------------------------------------------------------------------- text */

void report_put_number(FILE *f, double number, int width)
{
	char buf[32], text[40];

	if (fabs(number) < 1e15 && number == trunc(number))
		snprintf(text, sizeof(text), "%s%s", number < 0 ? "-" : "", hodo_grouped((uint64_t)fabs(number), buf));
	else
		snprintf(text, sizeof(text), "%.6g", isnan(number) ? fabs(number) : number);
	fprintf(f, "%*s", width, text);
}

void report_put_stat_name(FILE *f, const struct report_events *ev, const struct report_stat *row)
{
	const struct report_series *s = &ev->series[row->series];

	if (s->section == REPORT_OFF)
		fprintf(f, "%-9s  ", s->name);
	else if (s->section != REPORT_RUNNING && s->section != REPORT_LATENCY)
		hodo_put_plain(f, s->name);
	if (!row->group)
		return;
	if (s->section < REPORT_RUNNING)
		fputs("  ", f);
	if (ev->o->by == REPORT_BY_FIELD && s->section < REPORT_RUNNING) {
		hodo_put_plain(f, ev->o->by_field);
		fputc('=', f);
	}
	hodo_put_plain(f, row->group);
}

static void put_head(FILE *f, enum report_section section)
{
	switch (section) {
	case REPORT_EVENTS:
		fputs("       COUNT    PER SECOND  EVENT", f);
		return;
	case REPORT_VALUES:
		fputs("       COUNT         AVG         MIN         P50         P90         P99       P99.9"
		      "         MAX        LAST  VALUE", f);
		return;
	case REPORT_RUNNING:
	case REPORT_OFF:
		fprintf(f, "%12s  %-10s  %-10s  %-10s  %s", "COUNT", "  TOTAL", "  AVG", "  MAX",
			section == REPORT_OFF ? "WHY        THREAD" : "THREAD");
		return;
	default:
		fprintf(f, "%12s  %12s  %-10s  %-10s  %-10s  %-10s  %-10s  %-10s  %-10s  %s", "COUNT", "PER SECOND",
			"  TOTAL", "  AVG", "  P50", "  P90", "  P99", "  P99.9", "  MAX",
			section == REPORT_LATENCY ? "THREAD" : "SPAN");
	}
}

static double seconds_of(const struct report_events *ev)
{
	return (double)((uint64_t)ev->end_ns - (uint64_t)ev->begin_ns) / 1e9;
}

/* A rate over no time at all says nothing. */
static void put_rate(FILE *f, const struct report_events *ev, const struct report_stat *row)
{
	double seconds = seconds_of(ev), rate = seconds > 0 ? (double)row->count / seconds : 0;
	char buf[32];

	if (seconds <= 0)
		fprintf(f, "  %12s", "-");
	else if (rate < 100)
		fprintf(f, "  %12.2f", rate);
	else
		fprintf(f, "  %12s", hodo_grouped((uint64_t)(rate + 0.5), buf));
}

static void put_time(FILE *f, bool is, uint64_t ns)
{
	char buf[32];

	fprintf(f, "  %10s", is ? hodo_duration(ns, buf) : "-  ");
}

static void put_times(FILE *f, const struct report_events *ev, const struct report_stat *row)
{
	bool all = section_of(ev, row) == REPORT_SPANS || section_of(ev, row) == REPORT_LATENCY;

	if (all)
		put_rate(f, ev, row);
	put_time(f, row->count, row->sum_ns);
	put_time(f, row->count, (uint64_t)(report_stat_avg(row) + 0.5));
	for (unsigned i = 0; all && i < QUANTILES; i++)
		put_time(f, row->count && row->times, report_stat_at(row, quantiles[i]));
	put_time(f, row->count, row->max_ns);
}

static void put_numbers(FILE *f, const struct report_stat *row)
{
	const struct report_numbers *n = row->numbers;
	double all[8];

	if (!n || !n->n) {
		fprintf(f, "%96s", "");
		return;
	}
	all[0] = n->sum / (double)n->n;
	all[1] = n->min;
	for (unsigned i = 0; i < QUANTILES; i++)
		all[2 + i] = report_numbers_at(n, quantiles[i]);
	all[6] = n->max;
	all[7] = n->last;
	for (unsigned i = 0; i < 8; i++) {
		fputc(' ', f);
		report_put_number(f, all[i], 11);
	}
}

static void put_row(FILE *f, const struct report_events *ev, const struct report_stat *row)
{
	char buf[32];

	fprintf(f, "%12s", hodo_grouped(row->count, buf));
	if (section_of(ev, row) == REPORT_EVENTS)
		put_rate(f, ev, row);
	else if (section_of(ev, row) == REPORT_VALUES)
		put_numbers(f, row);
	else
		put_times(f, ev, row);
	fputs("  ", f);
	report_put_stat_name(f, ev, row);
	if (row->begins)
		fprintf(f, " (%s without end)", hodo_grouped(row->begins, buf));
	if (row->ends)
		fprintf(f, " (%s without begin)", hodo_grouped(row->ends, buf));
	fputc('\n', f);
}

bool report_histogram_wanted(const struct report_look *look, const char *name)
{
	return look->histogram && (!look->histogram_of || fnmatch(look->histogram_of, name, 0) == 0);
}

static void put_histogram(FILE *f, const struct report_events *ev, const struct report_stat *row)
{
	struct report_bar bars[REPORT_BARS_MAX];
	int n = row->times ? report_bars_times(row->times, bars, REPORT_BARS_MAX)
			   : report_bars_numbers(row->numbers, bars, REPORT_BARS_MAX);

	if (n <= 0)
		return;
	fputc('\n', f);
	report_put_stat_name(f, ev, row);
	if (section_of(ev, row) == REPORT_LATENCY)
		fputs(", from wake-up to running", f);
	fputs(":\n", f);
	report_bars_put(f, bars, n, row->times != NULL);
}

static bool put_section(FILE *f, const struct report_events *ev, enum report_section section,
			const struct report_look *look, bool first)
{
	uint32_t n, shown;
	struct item *items = sorted(ev, section, look->sort, &n);
	char buf[32];

	if (!n) {
		free(items);
		return false;
	}
	shown = look->limit < n ? (uint32_t)look->limit : n;
	fputs(first ? "" : "\n", f);
	fprintf(f, "%s%s:%s\n%s", hodo_style(look->color, HODO_HEADING), report_section_titles[section],
		hodo_style(look->color, HODO_PLAIN), hodo_style(look->color, HODO_DIM));
	put_head(f, section);
	fprintf(f, "%s\n", hodo_style(look->color, HODO_PLAIN));
	for (uint32_t i = 0; i < shown; i++)
		put_row(f, ev, items[i].row);
	if (shown < n)
		fprintf(f, "and %s more\n", hodo_grouped(n - shown, buf));
	for (uint32_t i = 0; i < shown; i++)
		if ((items[i].row->times || items[i].row->numbers) && items[i].row->count &&
		    report_histogram_wanted(look, items[i].name))
			put_histogram(f, ev, items[i].row);
	free(items);
	return true;
}

bool report_put_sections(FILE *f, const struct report_events *ev, const struct report_look *look, bool first)
{
	bool any = false;

	for (unsigned i = 0; i < REPORT_SECTIONS; i++)
		any |= put_section(f, ev, (enum report_section)i, look, first && !any);
	if (any)
		fprintf(f, "\nin %.9f s\n", seconds_of(ev));
	return any;
}

/* ------------------------------------------------------------------------- JSON */

static void put_u64(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, ",\"%s\":%llu", name, (unsigned long long)n);
}

/* JSON has no infinity. */
static void put_double(FILE *f, const char *name, double n)
{
	if (isfinite(n))
		fprintf(f, "\"%s\":%.17g", name, n);
	else
		fprintf(f, "\"%s\":null", name);
}

static void put_number(FILE *f, const char *name, double n)
{
	fputc(',', f);
	put_double(f, name, n);
}

static void put_bars_json(FILE *f, const struct report_stat *row)
{
	struct report_bar bars[REPORT_BARS_MAX];
	int n = row->times ? report_bars_times(row->times, bars, REPORT_BARS_MAX)
			   : report_bars_numbers(row->numbers, bars, REPORT_BARS_MAX);

	fputs(",\"histogram\":[", f);
	for (int i = 0; i < n; i++) {
		fputs(i ? ",{" : "{", f);
		put_double(f, "from", bars[i].low);
		fputc(',', f);
		put_double(f, "to", bars[i].high);
		put_u64(f, "count", bars[i].n);
		fputs("}", f);
	}
	fputs("]", f);
}

static void put_numbers_json(FILE *f, const struct report_stat *row)
{
	const struct report_numbers *n = row->numbers;

	if (!n || !n->n)
		return;
	put_number(f, "avg", n->sum / (double)n->n);
	put_number(f, "min", n->min);
	for (unsigned i = 0; i < QUANTILES; i++)
		put_number(f, quantile_names[i], report_numbers_at(n, quantiles[i]));
	put_number(f, "max", n->max);
	put_number(f, "last", n->last);
}

static void put_times_json(FILE *f, const struct report_stat *row)
{
	put_u64(f, "total_ns", row->sum_ns);
	fprintf(f, ",\"avg_ns\":%.1f", report_stat_avg(row));
	put_u64(f, "min_ns", row->count ? row->min_ns : 0);
	for (unsigned i = 0; i < QUANTILES && row->times; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%s_ns", quantile_names[i]);
		put_u64(f, name, report_stat_at(row, quantiles[i]));
	}
	put_u64(f, "max_ns", row->max_ns);
}

/* What is counted and measured, behind a name. */
void report_put_stat_json(FILE *f, const struct report_events *ev, const struct report_stat *row, bool histogram)
{
	double seconds = seconds_of(ev);
	enum report_section section = section_of(ev, row);

	fprintf(f, "\"count\":%llu,\"per_second\":%.3f", (unsigned long long)row->count,
		seconds > 0 ? (double)row->count / seconds : 0);
	if (section == REPORT_VALUES)
		put_numbers_json(f, row);
	else if (section != REPORT_EVENTS)
		put_times_json(f, row);
	if (section == REPORT_SPANS) {
		put_u64(f, "unpaired_begins", row->begins);
		put_u64(f, "unpaired_ends", row->ends);
	}
	if (histogram && (row->times || row->numbers))
		put_bars_json(f, row);
}

void report_put_group_json(FILE *f, const struct report_events *ev, const struct report_stat *row)
{
	const struct report_series *s = &ev->series[row->series];

	fputs(s->section == REPORT_OFF ? "\"why\":" : "\"name\":", f);
	hodo_put_json(f, s->name);
	if (s->section < REPORT_RUNNING)
		fputs(",\"group\":", f);
	else
		fprintf(f, ",\"%s\":", ev->o->by == REPORT_BY_CPU ? "cpu"
					: ev->o->by == REPORT_BY_PROCESS ? "process" : "thread");
	if (row->group)
		hodo_put_json(f, row->group);
	else
		fputs("null", f);
	if (!s->pair)
		return;
	fputs(",\"begin\":", f);
	hodo_put_json(f, s->pair->begin);
	fputs(",\"end\":", f);
	hodo_put_json(f, s->pair->end);
	fputs(",\"pair_by\":", f);
	hodo_put_json(f, s->pair->by ? s->pair->by : "thread");
}

void report_put_sections_json(FILE *f, const struct report_events *ev, const struct report_look *look)
{
	static const char *const bys[] = { NULL, "thread", "cpu", "process" };

	for (unsigned k = 0; k < REPORT_SECTIONS; k++) {
		uint32_t n;
		struct item *items = sorted(ev, (enum report_section)k, look->sort, &n);

		fprintf(f, ",\"%s\":[", report_section_keys[k]);
		for (uint32_t i = 0; i < n && i < look->limit; i++) {
			fputs(i ? ",{" : "{", f);
			report_put_group_json(f, ev, items[i].row);
			fputc(',', f);
			report_put_stat_json(f, ev, items[i].row, report_histogram_wanted(look, items[i].name));
			fputc('}', f);
		}
		fputs("]", f);
		free(items);
	}
	fputs(",\"by\":", f);
	if (ev->o->by == REPORT_BY_NONE)
		fputs("null", f);
	else
		hodo_put_json(f, ev->o->by == REPORT_BY_FIELD ? ev->o->by_field : bys[ev->o->by]);
	put_u64(f, "duration_ns", (uint64_t)ev->end_ns - (uint64_t)ev->begin_ns);
	put_u64(f, "dropped_begins", ev->dropped);
	put_u64(f, "unsure_times", ev->unsure);
	put_u64(f, "unsure_spans", ev->unsure_spans);
}
