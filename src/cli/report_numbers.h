/* SPDX-License-Identifier: MIT */
/* report_numbers.h - hodo report: what is measured, times and numbers of any kind: distributions and their pictures. */
#ifndef HODO_CLI_REPORT_NUMBERS_H
#define HODO_CLI_REPORT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <base/histogram.h>
#include <base/json.h>
#include <base/map.h>

/* How each row begins: what it is found by, how many of it there were, and how long they took if they took time. */
struct report_times {
	uint64_t key;
	uint64_t n, sum_ns, min_ns, max_ns;
	struct hodo_histogram *histogram; /* NULL: none, or there are too many rows */
};

bool report_times_add(struct report_times *times, uint64_t ns); /* false: no memory */
/* Within what was seen at the least and at the most; 0: there is none. */
uint64_t report_times_at(const struct report_times *times, double q);
void report_times_free(struct report_times *times); /* what it points to */

/* 64 buckets for each power of two. */
struct report_bucket {
	int64_t key; /* ascending as the numbers are; 0: zero */
	uint64_t n;
};

struct report_numbers {
	struct hodo_map buckets; /* struct report_bucket */
	uint64_t n;
	double sum, min, max, last;
	bool parts; /* some are no whole numbers */
};

struct report_numbers *report_numbers_new(void); /* NULL: no memory */
/* NaN is not counted. false: no memory. */
bool report_numbers_add(struct report_numbers *numbers, double number, bool whole);
double report_numbers_at(const struct report_numbers *numbers, double q);
void report_numbers_free(struct report_numbers *numbers); /* itself too; NULL is allowed */

/* A bar of a picture: numbers from low up to, and not including, high. */
struct report_bar {
	double low, high;
	uint64_t n;
};
#define REPORT_BARS_MAX 24

/* At most REPORT_BARS_MAX bars, without gaps. Their number; -1: no memory. */
int report_bars_times(const struct hodo_histogram *times, struct report_bar *bars);
int report_bars_numbers(const struct report_numbers *numbers, struct report_bar *bars);
/* As wide as the terminal, 80 columns else; time: numbers are ns. */
void report_bars_put(struct hodo_text *to, const struct report_bar *bars, int n, bool time);
void report_bars_put_json(struct hodo_json *j, const char *key, const struct report_bar *bars, int n);

#endif
