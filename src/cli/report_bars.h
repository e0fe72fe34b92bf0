/* SPDX-License-Identifier: MIT */
/* report_bars.h - hodo report: the picture of a distribution. */
#ifndef HODO_CLI_REPORT_BARS_H
#define HODO_CLI_REPORT_BARS_H

#include <base/histogram.h>
#include <base/json.h>

/* Numbers from low up to, and not including, high. */
struct report_bar {
	double low, high;
	uint64_t n;
};
#define REPORT_BARS_MAX 24

/* At most REPORT_BARS_MAX bars, without gaps. Their number; -1: no memory. */
int report_bars(struct hodo_histogram *histogram, struct report_bar *bars);
/* As wide as the terminal, 80 columns else; time: numbers are ns. */
void report_bars_put(struct hodo_text *to, const struct report_bar *bars, int n, bool time);
void report_bars_put_json(struct hodo_json *j, const char *key, const struct report_bar *bars, int n);

#endif
