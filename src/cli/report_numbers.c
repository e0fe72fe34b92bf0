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
static int32_t key_of(double number)
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
	int64_t k = key < 0 ? -key : key;
	double low = key ? ldexp(0.5 + (double)(k % SUB) / (2 * SUB), (int)(k / SUB) - BASE) : 0;

	return key < 0 ? -low : low;
}

static struct report_bucket *slot_of(const struct report_numbers *n, int32_t key)
{
	uint32_t i = (uint32_t)((uint64_t)(uint32_t)key * 0x9e3779b97f4a7c15ull >> 32) & n->mask;

	while (n->buckets[i].n && n->buckets[i].key != key)
		i = (i + 1) & n->mask;
	return &n->buckets[i];
}

static bool grow(struct report_numbers *n)
{
	struct report_bucket *old = n->buckets;
	uint32_t had = old ? n->mask + 1 : 0, room = had ? 2 * had : 32;

	n->buckets = calloc(room, sizeof(*n->buckets));
	if (!n->buckets) {
		n->buckets = old;
		return false;
	}
	n->mask = room - 1;
	for (uint32_t i = 0; i < had; i++)
		if (old[i].n)
			*slot_of(n, old[i].key) = old[i];
	free(old);
	return true;
}

bool report_numbers_add(struct report_numbers *n, double number, bool whole)
{
	struct report_bucket *b;

	if (isnan(number))
		return true;
	if ((!n->buckets || 2 * n->nbuckets > n->mask) && !grow(n))
		return false;
	b = slot_of(n, key_of(number));
	n->nbuckets += b->n == 0;
	b->key = key_of(number);
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

/* The buckets that hold something, in order; the caller frees them. NULL: no memory. */
static struct report_bucket *sorted(const struct report_numbers *n)
{
	struct report_bucket *all = calloc((size_t)n->nbuckets + 1, sizeof(*all));
	uint32_t k = 0;

	for (uint32_t i = 0; all && n->buckets && i <= n->mask; i++)
		if (n->buckets[i].n)
			all[k++] = n->buckets[i];
	if (all)
		qsort(all, k, sizeof(*all), by_key);
	return all;
}

/* The bucket's middle, or the whole number that stands for it. */
static double middle(const struct report_numbers *n, int32_t key)
{
	double low = low_of(key), high = key ? low_of(key < 0 ? (int64_t)key - 1 : (int64_t)key + 1) : 0;
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
	double at = 0;

	rank = rank == 0 ? 1 : rank > n->n ? n->n : rank;
	for (uint32_t i = 0; all && i < n->nbuckets; i++) {
		seen += all[i].n;
		if (seen >= rank) {
			at = middle(n, all[i].key);
			break;
		}
	}
	free(all);
	return at;
}

void report_numbers_free(struct report_numbers *n)
{
	if (n)
		free(n->buckets);
	free(n);
}

/* ------------------------------------------------------------------------- bars */

/* Buckets of 2^shift to a bar; zero is one of its own, and the least number's come next to it, on both sides. */
struct scale {
	unsigned shift;
	int64_t least; /* bucket >> shift */
};

static int64_t bar_of(int64_t key, struct scale s)
{
	int64_t bar = ((key < 0 ? -key : key) >> s.shift) - s.least + 1;

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
static struct scale scale_for(const struct report_bucket *all, uint32_t n, bool whole, int max)
{
	struct scale s = { .shift = 3 };
	int32_t least = INT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (all[i].key && abs(all[i].key) < least)
			least = abs(all[i].key);
	if (least == INT32_MAX)
		return s;
	while (whole && s.shift < 6 && low_of(least) < ldexp(1, 6 - (int)s.shift))
		s.shift++;
	for (;; s.shift++) {
		s.least = least >> s.shift;
		if (s.shift == 20 || bar_of(all[n - 1].key, s) - bar_of(all[0].key, s) < max)
			return s;
	}
}

static int make_bars(const struct report_bucket *all, uint32_t n, bool whole, struct report_bar *bars, int max)
{
	struct scale s = scale_for(all, n, whole, max);
	int64_t first = n ? bar_of(all[0].key, s) : 0;
	int nbars = 0;

	for (uint32_t i = 0; i < n; i++) {
		int64_t bar = bar_of(all[i].key, s);

		while (nbars <= bar - first && nbars < max) {
			int64_t b = first + nbars;

			bars[nbars++] = (struct report_bar){ bar_low(b, s), bar_high(b, s), 0 };
		}
		bars[bar - first < max ? bar - first : max - 1].n += all[i].n;
	}
	return nbars;
}

int report_bars_numbers(const struct report_numbers *numbers, struct report_bar *bars, int max)
{
	struct report_bucket *all = sorted(numbers);
	int n = all ? make_bars(all, numbers->nbuckets, !numbers->parts, bars, max) : -1;

	free(all);
	return n;
}

int report_bars_times(const struct hodo_histogram *times, struct report_bar *bars, int max)
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
	nbars = make_bars(all, n, true, bars, max);
	free(all);
	return nbars;
}
