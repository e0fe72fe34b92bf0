/* SPDX-License-Identifier: MIT */
/* report_numbers.c - see report_numbers.h. */
#define _GNU_SOURCE
#include "report_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUB  64 /* buckets for each power of two */
#define BASE 1100 /* makes all exponents of a double positive */

/* Whole numbers up to 127 have buckets of their own. */
static int64_t key_of(double number)
{
	double m;
	int exponent;

	if (number == 0)
		return 0;
	if (isinf(number))
		number = number > 0 ? 1.7976931348623157e308 : -1.7976931348623157e308;
	m = frexp(fabs(number), &exponent); /* 0.5 .. 1 */
	exponent = (exponent + BASE) * SUB + (int)((m - 0.5) * 2 * SUB);
	return number < 0 ? -exponent : exponent;
}

/* Where the bucket begins, on the side of zero. */
static double low_of(int64_t key)
{
	int64_t k = llabs(key);
	double low = key ? ldexp(0.5 + (double)(k % SUB) / (2 * SUB), (int)(k / SUB) - BASE) : 0;

	return key < 0 ? -low : low;
}

struct report_numbers *report_numbers_new(void)
{
	struct report_numbers *n = malloc(sizeof(*n));

	if (n)
		*n = (struct report_numbers){ .buckets = HODO_MAP(struct report_bucket, key) };
	return n;
}

bool report_numbers_add(struct report_numbers *n, double number, bool whole)
{
	struct report_bucket *b;

	if (isnan(number))
		return true;
	b = hodo_map_add_u64(&n->buckets, (uint64_t)key_of(number), NULL);
	if (!b)
		return false;
	b->n++;
	n->min = n->n && n->min < number ? n->min : number;
	n->max = n->n && n->max > number ? n->max : number;
	n->sum += number;
	n->last = number;
	n->n++;
	n->parts |= !whole && number != trunc(number);
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct report_bucket *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* The buckets in order; the caller frees them. NULL: no memory. */
static struct report_bucket *sorted(const struct report_numbers *n)
{
	struct report_bucket *all = calloc((size_t)n->buckets.n + 1, sizeof(*all));

	if (!all || !n->buckets.n)
		return all;
	memcpy(all, n->buckets.entries, n->buckets.n * sizeof(*all));
	qsort(all, n->buckets.n, sizeof(*all), by_key);
	return all;
}

/* The bucket's middle, or the whole number that stands for it. */
static double middle(const struct report_numbers *n, int64_t key)
{
	double low = low_of(key), high = key ? low_of(key < 0 ? key - 1 : key + 1) : 0;
	double mid;

	if (n->parts)
		mid = low + (high - low) / 2;
	else
		mid = trunc(low + (fabs(high - low) > 1 ? (high - low) / 2 : 0));
	return mid < n->min ? n->min : mid > n->max ? n->max : mid;
}

double report_numbers_at(const struct report_numbers *n, double q)
{
	struct report_bucket *all = sorted(n);
	uint64_t rank = (uint64_t)ceil(q * (double)n->n), seen = 0;
	uint32_t i = 0;
	double at = 0;

	rank = rank == 0 ? 1 : rank > n->n ? n->n : rank;
	while (all && i < n->buckets.n && (seen += all[i].n) < rank)
		i++;
	if (all && i < n->buckets.n)
		at = middle(n, all[i].key);
	free(all);
	return at;
}

void report_numbers_free(struct report_numbers *n)
{
	if (n)
		hodo_map_free(&n->buckets);
	free(n);
}

/* ------------------------------------------------------------------------ times */

bool report_times_add(struct report_times *t, uint64_t ns)
{
	t->min_ns = t->n && t->min_ns < ns ? t->min_ns : ns;
	t->max_ns = t->max_ns > ns ? t->max_ns : ns;
	t->sum_ns += ns;
	t->n++;
	return !t->histogram || hodo_histogram_add(t->histogram, ns, 1);
}

uint64_t report_times_at(const struct report_times *t, double q)
{
	uint64_t ns = t->n && t->histogram ? hodo_histogram_at(t->histogram, q) : 0;

	return ns < t->min_ns ? t->min_ns : ns > t->max_ns ? t->max_ns : ns;
}

void report_times_free(struct report_times *t)
{
	if (t->histogram)
		hodo_histogram_free(t->histogram);
	free(t->histogram);
}

/* ------------------------------------------------------------------------- bars */

/* Buckets of 2^shift to a bar; zero is one of its own, and the least number's come next to it, on both sides. */
struct scale {
	unsigned shift;
	int64_t least; /* bucket >> shift */
};

static int64_t bar_of(int64_t key, struct scale s)
{
	int64_t bar = (llabs(key) >> s.shift) - s.least + 1;

	return key > 0 ? bar : key < 0 ? -bar : 0;
}

static double bar_low(int64_t bar, struct scale s)
{
	return bar > 0 ? low_of((bar - 1 + s.least) << s.shift) : bar < 0 ? -low_of((-bar + s.least) << s.shift) : 0;
}

static double bar_high(int64_t bar, struct scale s)
{
	return bar > 0 ? bar_low(bar + 1, s) : bar < 0 ? -low_of((-bar - 1 + s.least) << s.shift) : 0;
}

/*
 * Bars are made as narrow as there is room for, eight for a power of two at the most, and for whole numbers none that
 * begins between two of them.
 */
static struct scale scale_for(const struct report_bucket *all, uint32_t n, bool whole)
{
	struct scale s = { .shift = 3 };
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (all[i].key && llabs(all[i].key) < least)
			least = llabs(all[i].key);
	if (least == INT64_MAX)
		return s;
	while (whole && s.shift < 6 && low_of(least) < ldexp(1, 6 - (int)s.shift))
		s.shift++;
	for (;; s.shift++) {
		s.least = least >> s.shift;
		if (s.shift == 20 || bar_of(all[n - 1].key, s) - bar_of(all[0].key, s) < REPORT_BARS_MAX)
			return s;
	}
}

static int make_bars(const struct report_bucket *all, uint32_t n, bool whole, struct report_bar *bars)
{
	struct scale s = scale_for(all, n, whole);
	int64_t first = n ? bar_of(all[0].key, s) : 0;
	int nbars = 0;

	for (uint32_t i = 0; i < n; i++) {
		int64_t bar = bar_of(all[i].key, s);

		while (nbars <= bar - first && nbars < REPORT_BARS_MAX) {
			int64_t b = first + nbars;

			bars[nbars++] = (struct report_bar){ bar_low(b, s), bar_high(b, s), 0 };
		}
		bars[bar - first < REPORT_BARS_MAX ? bar - first : REPORT_BARS_MAX - 1].n += all[i].n;
	}
	return nbars;
}

int report_bars_numbers(const struct report_numbers *numbers, struct report_bar *bars)
{
	struct report_bucket *all = sorted(numbers);
	int n = all ? make_bars(all, numbers->buckets.n, !numbers->parts, bars) : -1;

	free(all);
	return n;
}

int report_bars_times(const struct hodo_histogram *times, struct report_bar *bars)
{
	enum { PARTS = sizeof(times->part) / sizeof(times->part[0]) };
	struct report_bucket *all = calloc((size_t)PARTS * HODO_HISTOGRAM_SUB, sizeof(*all));
	uint32_t n = 0;
	int nbars;

	if (!all)
		return -1;
	for (unsigned part = 0; part < PARTS; part++) {
		for (unsigned i = 0; times->part[part] && i < HODO_HISTOGRAM_SUB; i++) {
			uint64_t low = part ? ((uint64_t)i + HODO_HISTOGRAM_SUB) << (part - 1) : i;

			if (times->part[part][i])
				all[n++] = (struct report_bucket){ key_of((double)low), times->part[part][i] };
		}
	}
	nbars = make_bars(all, n, true, bars);
	free(all);
	return nbars;
}
