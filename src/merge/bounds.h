/* SPDX-License-Identifier: MIT */
/*
 * bounds.h - what is known of the difference of two clocks, from messages that both sides recorded.
 *
 * The correction of a clock is a line over its time: an offset and a drift. A message arrives after it was sent, so
 * one that the clock's host received says that the correction is at least something at that time, and one that it sent,
 * that it is at most something. All lines that satisfy that are the points of a convex polygon, of offset and drift;
 * each message cuts a part off, or says nothing new. (Between the two convex hulls of Duda, Harrus, Haddad and Bernard,
 * 1987, are the same lines: each edge of the polygon belongs to a point of a hull.) So memory and time depend on how
 * many messages say something, not on how many there are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HODO_DRIFT_MAX_PPB 500000 /* no clock differs more: the kernel corrects none by more than that */

/* Of times from recordings, which may be any: what does not fit becomes the least or the largest one. */
static inline int64_t hodo_time_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t hodo_time_difference(int64_t a, int64_t b)
{
	int64_t difference;

	return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

/* Between the two. */
static inline int64_t hodo_time_middle(int64_t begin, int64_t end)
{
	return (int64_t)(((__int128)begin + end) / 2);
}

/* y = y0 + (x - x0) + drift * (x - x0): times of one clock as those of another. */
struct hodo_line_of_time {
	int64_t x0_ns, y0_ns;
	double drift; /* without unit */
};

int64_t hodo_time_map(const struct hodo_line_of_time *l, int64_t x_ns);
/* First a, then b; tied at x_ns. */
struct hodo_line_of_time hodo_time_join(const struct hodo_line_of_time *a, const struct hodo_line_of_time *b,
					int64_t x_ns);
struct hodo_line_of_time hodo_time_inverse(const struct hodo_line_of_time *l);

#define HODO_BOUNDS_CORNERS 512u /* of the polygon; what would make more is not used */

/* Corrections in ns beyond base_ns, with x in seconds beyond x0_ns; drifts in ppb. */
struct hodo_bounds {
	int64_t x0_ns, base_ns;
	struct hodo_corner {
		double offset, drift;
	} *corner;
	uint32_t n; /* of corners; 0: no line satisfies all */
	uint64_t least, most; /* messages in each direction */
};

/* All lines. 0 or -ENOMEM. */
int hodo_bounds_begin(struct hodo_bounds *b, int64_t x0_ns, int64_t base_ns);
void hodo_bounds_free(struct hodo_bounds *b);
/* At x_ns, the correction is at least, or at most, that. */
void hodo_bounds_least(struct hodo_bounds *b, int64_t x_ns, int64_t correction_ns);
void hodo_bounds_most(struct hodo_bounds *b, int64_t x_ns, int64_t correction_ns);

/*
 * The line in the middle of all: the mean of their drifts, where a clock's usual ones count more, and of their offsets.
 * There must be corners.
 */
struct hodo_line_of_time hodo_bounds_middle(const struct hodo_bounds *b);
/* How far from y, at that time, the others are at most. */
double hodo_bounds_error_ns(const struct hodo_bounds *b, int64_t x_ns, int64_t y_ns);
/* The nearest correction to this that a line without drift can have, at x0_ns. */
int64_t hodo_bounds_clamp(const struct hodo_bounds *b, int64_t correction_ns);
