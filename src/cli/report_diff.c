/* SPDX-License-Identifier: MIT */
/* report_diff.c - what differs in another recording: events, spans, values and scheduling. */
#define _GNU_SOURCE
#include "report_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_put_change(FILE *f, double before, double after, bool time)
{
	char a[32], b[32], percent[32] = "new";

	if (before > 0)
		snprintf(percent, sizeof(percent), "%+.1f%%", (after - before) / before * 100);
	else if (after <= 0)
		snprintf(percent, sizeof(percent), "-");
	if (time)
		fprintf(f, "%10s  %10s %9s  ", hodo_duration((uint64_t)(before + 0.5), a),
			hodo_duration((uint64_t)(after + 0.5), b), percent);
	else
		fprintf(f, "%11s %11s %9s  ", hodo_grouped((uint64_t)before, a), hodo_grouped((uint64_t)after, b),
			percent);
}

static void put_change_number(FILE *f, double before, double after)
{
	char percent[32] = "new";
	double change = after == before ? 0 : (after - before) / fabs(before) * 100; /* infinite ones may be equal */

	if (before != 0 && isfinite(change))
		snprintf(percent, sizeof(percent), "%+.1f%%", change);
	else if (before != 0 || after == 0)
		snprintf(percent, sizeof(percent), "-");
	report_put_number(f, before, 11);
	fputc(' ', f);
	report_put_number(f, after, 11);
	fprintf(f, " %9s  ", percent);
}

struct item {
	const struct report_events *ev[2];
	const struct report_stat *row[2]; /* before, after; either may be NULL */
	double key;
};

static const struct report_series *series_of(const struct item *i)
{
	return i->row[0] ? &i->ev[0]->series[i->row[0]->series] : &i->ev[1]->series[i->row[1]->series];
}

static const char *group_of(const struct item *i)
{
	const char *group = (i->row[0] ? i->row[0] : i->row[1])->group;

	return group ? group : "";
}

static int by_name(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int names = strcmp(series_of(x)->name, series_of(y)->name);

	if (!names)
		names = strcmp(group_of(x), group_of(y));
	return names ? names : (x->row[0] ? 0 : 1) - (y->row[0] ? 0 : 1);
}

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return by_name(a, b);
}

static uint32_t take(const struct report_events *ev, unsigned side, enum report_section section, struct item *items)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ev->nrows; i++) {
		const struct report_stat *row = &ev->rows[i];

		if (ev->series[row->series].section != section || (!row->count && !row->begins && !row->ends))
			continue;
		items[n] = (struct item){ .ev = { ev, ev } };
		items[n++].row[side] = row;
	}
	return n;
}

/* Rows of one section of both, those of the same name and group together, the largest change first. -1: no memory. */
static long pair(const struct report_events *before, const struct report_events *after, enum report_section section,
		 enum report_sort sort, struct item **out)
{
	struct item *items = calloc((size_t)before->nrows + after->nrows + 1, sizeof(*items));
	uint32_t n, kept = 0;

	if (!items)
		return -1;
	n = take(before, 0, section, items);
	n += take(after, 1, section, items + n);
	qsort(items, n, sizeof(*items), by_name);
	for (uint32_t i = 0; i < n; i++) {
		struct item *last = kept ? &items[kept - 1] : NULL;

		if (last && last->row[0] && !last->row[1] && !items[i].row[0] &&
		    strcmp(series_of(last)->name, series_of(&items[i])->name) == 0 &&
		    strcmp(group_of(last), group_of(&items[i])) == 0) {
			last->row[1] = items[i].row[1];
			last->ev[1] = after;
			continue;
		}
		items[kept++] = items[i];
	}
	for (uint32_t i = 0; i < kept; i++) {
		double a = items[i].row[0] ? report_stat_key(before, items[i].row[0], sort) : 0;
		double b = items[i].row[1] ? report_stat_key(after, items[i].row[1], sort) : 0;

		items[i].key = a == b ? 0 : a < b ? b - a : a - b;
	}
	qsort(items, kept, sizeof(*items), by_key);
	*out = items;
	return kept;
}

static void put_row(FILE *f, enum report_section section, const struct item *item)
{
	static const struct report_stat nothing;
	static const struct report_numbers none;
	const struct report_stat *a = item->row[0] ? item->row[0] : &nothing;
	const struct report_stat *b = item->row[1] ? item->row[1] : &nothing;
	const struct report_numbers *x = a->numbers ? a->numbers : &none, *y = b->numbers ? b->numbers : &none;

	switch (section) {
	case REPORT_EVENTS:
		break;
	case REPORT_VALUES:
		put_change_number(f, x->n ? report_numbers_at(x, 0.5) : 0, y->n ? report_numbers_at(y, 0.5) : 0);
		put_change_number(f, x->n ? report_numbers_at(x, 0.99) : 0, y->n ? report_numbers_at(y, 0.99) : 0);
		put_change_number(f, x->max, y->max);
		break;
	case REPORT_RUNNING:
	case REPORT_OFF:
		report_put_change(f, (double)a->sum_ns, (double)b->sum_ns, true);
		report_put_change(f, (double)a->max_ns, (double)b->max_ns, true);
		break;
	default:
		report_put_change(f, (double)report_stat_at(a, 0.5), (double)report_stat_at(b, 0.5), true);
		report_put_change(f, (double)report_stat_at(a, 0.99), (double)report_stat_at(b, 0.99), true);
		report_put_change(f, (double)a->max_ns, (double)b->max_ns, true);
	}
	report_put_change(f, (double)a->count, (double)b->count, false);
	report_put_stat_name(f, item->ev[item->row[0] ? 0 : 1], item->row[0] ? item->row[0] : item->row[1]);
	fputc('\n', f);
}

static void put_head(FILE *f, enum report_section section, bool color)
{
	static const char *const columns[REPORT_SECTIONS][4] = {
		[REPORT_EVENTS] = { "     COUNT" },
		[REPORT_SPANS] = { "  P50", "  P99", "  MAX", "     COUNT" },
		[REPORT_VALUES] = { "       P50", "       P99", "       MAX", "     COUNT" },
		[REPORT_RUNNING] = { "  TOTAL", "  MAX", "     COUNT" },
		[REPORT_OFF] = { "  TOTAL", "  MAX", "     COUNT" },
		[REPORT_LATENCY] = { "  P50", "  P99", "  MAX", "     COUNT" },
	};

	fprintf(f, "%s%s:%s\n", hodo_style(color, HODO_HEADING), report_section_titles[section],
		hodo_style(color, HODO_PLAIN));
	for (unsigned i = 0; i < 4 && columns[section][i]; i++)
		fprintf(f, "%-*s", i == 3 || !columns[section][i + 1] ? 0 : section == REPORT_VALUES ? 35 : 34,
			columns[section][i]);
	fputc('\n', f);
}

static void put_row_json(FILE *f, const struct item *item)
{
	static const char *const sides[] = { ",\"before\":", ",\"after\":" };

	fputc('{', f);
	report_put_group_json(f, item->ev[item->row[0] ? 0 : 1], item->row[0] ? item->row[0] : item->row[1]);
	for (unsigned k = 0; k < 2; k++) {
		fputs(sides[k], f);
		if (!item->row[k]) {
			fputs("null", f);
			continue;
		}
		fputc('{', f);
		report_put_stat_json(f, item->ev[k], item->row[k], false);
		fputc('}', f);
	}
	fputc('}', f);
}

int report_put_sections_diff(FILE *f, const struct report_events *before, const struct report_events *after,
			     const struct report_look *look, bool json, bool first)
{
	for (unsigned section = 0; section < REPORT_SECTIONS; section++) {
		struct item *items = NULL;
		long n = pair(before, after, (enum report_section)section, look->sort, &items);
		uint32_t shown = n < 0 ? 0 : look->limit < (uint64_t)n ? (uint32_t)look->limit : (uint32_t)n;
		char buf[32];

		if (n < 0)
			return -ENOMEM;
		if (json)
			fprintf(f, ",\"%s\":[", report_section_keys[section]);
		else if (n)
			fputs(first ? "" : "\n", f);
		if (!json && n)
			put_head(f, (enum report_section)section, look->color);
		for (uint32_t i = 0; i < shown; i++) {
			fputs(json && i ? "," : "", f);
			if (json)
				put_row_json(f, &items[i]);
			else
				put_row(f, (enum report_section)section, &items[i]);
		}
		if (json)
			fputc(']', f);
		else if (shown < n)
			fprintf(f, "and %s more\n", hodo_grouped((uint64_t)n - shown, buf));
		first &= n == 0;
		free(items);
	}
	return 0;
}
