/* SPDX-License-Identifier: MIT */
/*
 * report_numbers.h - a distribution of numbers of any kind, 64 buckets for each power of two, and its picture.
 */
#ifndef HODO_CLI_REPORT_NUMBERS_H
#define HODO_CLI_REPORT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <base/histogram.h>
#include <base/json.h>

struct report_bucket {
	int32_t key; /* ascending as the numbers are; 0: zero */
	uint64_t n;
};

struct report_numbers {
	struct report_bucket *buckets; /* open addressing; n == 0: free */
	uint32_t nbuckets, mask;
	uint64_t n;
	double sum, min, max, last;
	bool parts; /* some are no whole numbers */
};

/* NaN is not counted. false: no memory. */
bool report_numbers_add(struct report_numbers *numbers, double number, bool whole);
double report_numbers_at(const struct report_numbers *numbers, double q);
void report_numbers_free(struct report_numbers *numbers); /* itself too; NULL is allowed */

/* A bar of a picture: numbers from low up to, and not including, high. */
struct report_bar {
	double low, high;
	uint64_t n;
};
/* At most max bars (2 or more), without gaps. Their number; -1: no memory. */
int report_bars_times(const struct hodo_histogram *times, struct report_bar *bars, int max);
int report_bars_numbers(const struct report_numbers *numbers, struct report_bar *bars, int max);
#define REPORT_BARS_MAX 24
/* As wide as the terminal, 80 columns else; time: numbers are ns. */
void report_bars_put(struct hodo_text *to, const struct report_bar *bars, int n, bool time);
void report_bars_put_json(struct hodo_json *j, const char *key, const struct report_bar *bars, int n);

#endif
