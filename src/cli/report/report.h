/* SPDX-License-Identifier: MIT */
/* report.h - hodo report: what a recording says, in tables. */
#pragma once

#include <cli/cli.h>
#include <cli/output/table.h>
#include <stats/stats.h>

struct report_options {
	struct hodo_args args;
	struct hodo_stats_options stats;
	const char *diff; /* the other recording */
	bool histogram;
	const char *histogram_of; /* a glob for names; NULL: all */
};

struct report {
	const struct report_options *o;
	struct hodo_read *r;
	struct hodo_symbols *symbols;
	struct hodo_stats stats;
};

/* -------------------------------------------------------------------------- bars */

/* Numbers from low up to, and not including, high. */
struct report_bar {
	double low, high;
	uint64_t n;
};
#define REPORT_BARS_MAX 24

/* At most REPORT_BARS_MAX bars, without gaps. Returns their number. */
int report_bars(struct hodo_histogram *histogram, struct report_bar *bars);
/* As wide as the terminal, or 80 columns; time: numbers are ns. */
void report_bars_put(struct hodo_text *to, const struct report_bar *bars, int n, bool time);
void report_bars_put_json(struct hodo_json *j, const char *key, const struct report_bar *bars, int n);

/* ------------------------------------------------------------------------ tables */

void report_lists_put(struct hodo_text *to, const struct hodo_stats_lists *l);
void report_lists_put_json(struct hodo_json *j, const struct hodo_stats_lists *l);

extern const struct hodo_columns report_slowest_columns[2]; /* of spans, of calls */
void report_slowest_put(struct hodo_text *to, const struct report *rep);
void report_slowest_put_json(struct hodo_json *j, const struct report *rep);

extern const struct hodo_columns report_columns[HODO_STATS_SECTIONS];
/* other: NULL, or the report to compare with. */
void report_put(struct hodo_page *page, const struct report *rep, const struct report *other);
bool report_empty(const struct report *rep);
