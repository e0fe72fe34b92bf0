/* SPDX-License-Identifier: MIT */
/* report_functions.c - the table of functions, and what differs from another recording's. */
#define _GNU_SOURCE
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------ order */

static double key_of(const struct report_row *row, enum report_sort sort)
{
	switch (sort) {
	case REPORT_SORT_SELF:
		return (double)row->self_ns;
	case REPORT_SORT_CALLS:
		return (double)row->calls;
	case REPORT_SORT_AVG:
		return report_avg_ns(row);
	case REPORT_SORT_P50:
		return (double)report_time_at(row, 0.5);
	case REPORT_SORT_P99:
		return (double)report_time_at(row, 0.99);
	case REPORT_SORT_MAX:
		return (double)row->max_ns;
	case REPORT_SORT_MIN:
		return row->ended ? (double)row->min_ns : 0;
	case REPORT_SORT_NAME:
		return 0;
	default:
		return (double)row->total_ns;
	}
}

struct item {
	const struct report_row *row, *other; /* other: of --diff; either may be NULL there */
	double key;
};

static const char *name_of(const struct item *i)
{
	return i->row ? i->row->name : i->other->name;
}

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return strcmp(name_of(x), name_of(y));
}

static struct item *make_items(const struct report *rep, enum report_sort sort)
{
	struct item *items = calloc(rep->nrows + 1, sizeof(*items));

	for (uint32_t i = 0; items && i < rep->nrows; i++)
		items[i] = (struct item){ &rep->rows[i], NULL, key_of(&rep->rows[i], sort) };
	if (items)
		qsort(items, rep->nrows, sizeof(*items), by_key);
	return items;
}

/* ------------------------------------------------------------------------- text */

static void put_row(FILE *f, const struct report_row *row)
{
	const uint64_t times[] = { row->total_ns, row->self_ns, (uint64_t)(report_avg_ns(row) + 0.5),
				   row->ended ? row->min_ns : 0, report_time_at(row, 0.5), report_time_at(row, 0.99),
				   row->max_ns };
	char buf[32];

	fprintf(f, "%12s", hodo_grouped(row->calls, buf));
	for (unsigned i = 0; i < sizeof(times) / sizeof(*times); i++)
		fprintf(f, "  %10s", row->ended ? hodo_duration(times[i], buf) : "-  ");
	fputs("  ", f);
	hodo_put_plain(f, row->name);
	if (row->left)
		fprintf(f, " (%s left)", hodo_grouped(row->left, buf));
	if (row->open)
		fprintf(f, " (%s open)", hodo_grouped(row->open, buf));
	fputc('\n', f);
}

static void put_histogram(FILE *f, const struct report_row *row)
{
	struct report_bar bars[REPORT_BARS_MAX];
	int n = report_bars_times(&row->times, bars, REPORT_BARS_MAX);

	if (n <= 0)
		return;
	fputc('\n', f);
	hodo_put_plain(f, row->name);
	fputs(":\n", f);
	report_bars_put(f, bars, n, true);
}

static void put_text(FILE *f, const struct report *rep, const struct item *items, uint32_t n,
		     const struct report_look *look)
{
	char a[32];

	if (rep->nrows) {
		fprintf(f, "%12s  %-10s  %-10s  %-10s  %-10s  %-10s  %-10s  %-10s  %s\n", "CALLS", "  TOTAL", "  SELF",
			"  AVG", "  MIN", "  P50", "  P99", "  MAX", "FUNCTION");
		for (uint32_t i = 0; i < n; i++)
			put_row(f, items[i].row);
		if (n < rep->nrows)
			fprintf(f, "and %s more\n", hodo_grouped(rep->nrows - n, a));
	}
	if (rep->totals.orphans)
		fprintf(f, "exits of calls that are not in the recording: %s\n",
			hodo_grouped(rep->totals.orphans, a));
	for (uint32_t i = 0; i < n; i++)
		if (items[i].row->ended && report_histogram_wanted(look, items[i].row->name))
			put_histogram(f, items[i].row);
	report_put_lists(f, rep);
}

static void put_number(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, ",\"%s\":%llu", name, (unsigned long long)n);
}

static void put_row_json(FILE *f, const struct report_row *row)
{
	put_number(f, "calls", row->calls);
	put_number(f, "left", row->left);
	put_number(f, "open", row->open);
	put_number(f, "no_exit", row->no_exit);
	put_number(f, "total_ns", row->total_ns);
	put_number(f, "self_ns", row->self_ns);
	fprintf(f, ",\"avg_ns\":%.1f", report_avg_ns(row));
	put_number(f, "min_ns", row->ended ? row->min_ns : 0);
	put_number(f, "p50_ns", report_time_at(row, 0.5));
	put_number(f, "p99_ns", report_time_at(row, 0.99));
	put_number(f, "max_ns", row->max_ns);
}

static void put_bars_json(FILE *f, const struct report_row *row)
{
	struct report_bar bars[REPORT_BARS_MAX];
	int n = report_bars_times(&row->times, bars, REPORT_BARS_MAX);

	fputs(",\"histogram\":[", f);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s{\"from\":%.17g,\"to\":%.17g,\"count\":%llu}", i ? "," : "", bars[i].low, bars[i].high,
			(unsigned long long)bars[i].n);
	fputs("]", f);
}

static void put_json(FILE *f, const struct report *rep, const struct item *items, uint32_t n,
		     const struct report_look *look)
{
	struct hodo_read_lost lost = hodo_read_lost(rep->r, NULL);

	fputs("{\"version\":1,\"functions\":[", f);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ",{\"function\":" : "{\"function\":", f);
		hodo_put_json(f, items[i].row->name);
		fputs(",\"object\":", f);
		hodo_put_json(f, items[i].row->object);
		put_row_json(f, items[i].row);
		if (report_histogram_wanted(look, items[i].row->name))
			put_bars_json(f, items[i].row);
		fputc('}', f);
	}
	fputs("]", f);
	put_number(f, "calls", rep->totals.calls);
	put_number(f, "returned", rep->totals.returned);
	put_number(f, "left", rep->totals.left);
	put_number(f, "open", rep->totals.open);
	put_number(f, "orphans", rep->totals.orphans);
	put_number(f, "lost", hodo_lost_all(&lost));
	report_put_lists_json(f, rep);
	report_put_sections_json(f, &rep->events, look);
	fputs("}\n", f);
}

static bool has_functions(const struct report *rep)
{
	return rep->nrows || rep->nstacks || rep->nheld || rep->nwrong || rep->totals.orphans;
}

bool report_empty(const struct report *rep)
{
	return !has_functions(rep) && !rep->events.nrows;
}

int report_put(FILE *f, const struct report *rep, const struct report_look *look, bool json)
{
	struct item *items = make_items(rep, look->sort);
	uint32_t shown = look->limit < rep->nrows ? (uint32_t)look->limit : rep->nrows;

	if (!items)
		return -ENOMEM;
	if (json) {
		put_json(f, rep, items, shown, look);
	} else {
		put_text(f, rep, items, shown, look);
		report_put_sections(f, &rep->events, look, !has_functions(rep));
	}
	free(items);
	return 0;
}

/* ------------------------------------------------------------------------- diff */

static uint64_t name_id(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ull;
	return h ? h : 1;
}

/* Functions of one name as one, whatever object they are of: another build is another object. */
static bool merge_names(struct report *to, const struct report *from)
{
	for (uint32_t i = 0; i < from->nrows; i++) {
		const struct report_row *r = &from->rows[i];
		struct report_row *row = report_row(to, name_id(r->name));

		if (!row || !hodo_histogram_merge(&row->times, &r->times))
			return false;
		row->name = r->name;
		row->object = r->object;
		row->calls += r->calls;
		row->left += r->left;
		row->open += r->open;
		row->no_exit += r->no_exit;
		row->ended += r->ended;
		row->total_ns += r->total_ns;
		row->sum_ns += r->sum_ns;
		row->self_ns += r->self_ns;
		row->min_ns = r->min_ns < row->min_ns ? r->min_ns : row->min_ns;
		row->max_ns = r->max_ns > row->max_ns ? r->max_ns : row->max_ns;
	}
	return true;
}

static const struct report_row *find(const struct report *rep, uint64_t id)
{
	for (uint32_t i = (uint32_t)(id * 0x9e3779b97f4a7c15ull >> 32) & rep->index_mask; rep->nrows && rep->index[i];
	     i = (i + 1) & rep->index_mask)
		if (rep->rows[rep->index[i] - 1].id == id)
			return &rep->rows[rep->index[i] - 1];
	return NULL;
}

/* All functions of both, the largest change first; their number, or -1. */
static long pair(const struct report *a, const struct report *b, enum report_sort sort, struct item **out)
{
	struct item *items = calloc((size_t)a->nrows + b->nrows + 1, sizeof(*items));
	long n = 0;

	if (!items)
		return -1;
	for (uint32_t i = 0; i < a->nrows; i++)
		items[n++] = (struct item){ &a->rows[i], find(b, a->rows[i].id), 0 };
	for (uint32_t i = 0; i < b->nrows; i++)
		if (!find(a, b->rows[i].id))
			items[n++] = (struct item){ NULL, &b->rows[i], 0 };
	for (long i = 0; i < n; i++) {
		double before = items[i].row ? key_of(items[i].row, sort) : 0;
		double after = items[i].other ? key_of(items[i].other, sort) : 0;

		items[i].key = after > before ? after - before : before - after;
	}
	qsort(items, (size_t)n, sizeof(*items), by_key);
	*out = items;
	return n;
}

static const struct report_row nothing;

static void put_diff(FILE *f, const struct item *items, uint32_t n, uint32_t all)
{
	char buf[32];

	if (!all)
		return;
	fprintf(f, "%-32s  %-32s  %-32s  %s\n", "  TOTAL", "  SELF", "  AVG", "     CALLS");
	for (uint32_t i = 0; i < n; i++) {
		const struct report_row *a = items[i].row ? items[i].row : &nothing;
		const struct report_row *b = items[i].other ? items[i].other : &nothing;

		report_put_change(f, (double)a->total_ns, (double)b->total_ns, true);
		report_put_change(f, (double)a->self_ns, (double)b->self_ns, true);
		report_put_change(f, report_avg_ns(a), report_avg_ns(b), true);
		report_put_change(f, (double)a->calls, (double)b->calls, false);
		hodo_put_plain(f, name_of(&items[i]));
		fputc('\n', f);
	}
	if (n < all)
		fprintf(f, "and %s more\n", hodo_grouped(all - n, buf));
}

static void put_diff_json(FILE *f, const struct item *items, uint32_t n)
{
	fputs("{\"version\":1,\"functions\":[", f);
	for (uint32_t i = 0; i < n; i++) {
		const struct report_row *sides[] = { items[i].row, items[i].other };
		static const char *const names[] = { ",\"before\":{\"found\":true", ",\"after\":{\"found\":true" };
		static const char *const none[] = { ",\"before\":null", ",\"after\":null" };

		fputs(i ? ",{\"function\":" : "{\"function\":", f);
		hodo_put_json(f, name_of(&items[i]));
		for (unsigned k = 0; k < 2; k++) {
			fputs(sides[k] ? names[k] : none[k], f);
			if (sides[k]) {
				put_row_json(f, sides[k]);
				fputc('}', f);
			}
		}
		fputc('}', f);
	}
	fputs("]", f);
}

int report_put_diff(FILE *f, const struct report *rep, const struct report *other, const struct report_look *look,
		    bool json)
{
	struct report before = { 0 }, after = { 0 };
	struct item *items = NULL;
	long n = -1;
	int err = -ENOMEM;

	if (merge_names(&before, rep) && merge_names(&after, other))
		n = pair(&before, &after, look->sort, &items);
	if (n >= 0) {
		uint32_t shown = look->limit < (uint64_t)n ? (uint32_t)look->limit : (uint32_t)n;

		if (json)
			put_diff_json(f, items, shown);
		else
			put_diff(f, items, shown, (uint32_t)n);
		err = report_put_sections_diff(f, &rep->events, &other->events, look, json, n == 0);
		fputs(json ? "}\n" : "", f);
	}
	free(items);
	report_free_rows(&before);
	report_free_rows(&after);
	return err;
}
