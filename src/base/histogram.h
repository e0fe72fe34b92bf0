/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - counts of numbers on a logarithmic scale: 64 buckets for each power of two, so that a number
 * read from it is within 1 % of the true one; integers up to 127 have their own buckets. Only buckets that
 * occur take memory.
 */
#pragma once

#include "map.h"

#define HODO_HISTOGRAM_SUB 64 /* buckets for each power of two */

struct hodo_bucket {
	int64_t key; /* ascending as the numbers are; 0: zero */
	uint64_t n;
};

struct hodo_histogram {
	struct hodo_map buckets; /* struct hodo_bucket */
	uint64_t n;
	bool parts; /* some are not integers */
	struct hodo_bucket *sorted;
	uint64_t nsorted; /* n at that time */
};
#define HODO_HISTOGRAM { .buckets = HODO_MAP(struct hodo_bucket, key) }

/* false: no memory. */
bool hodo_histogram_add(struct hodo_histogram *h, uint64_t number, uint64_t times);
bool hodo_histogram_add_double(struct hodo_histogram *h, double number, bool whole); /* NaN is not counted */
/* The q-quantile (0 .. 1): the middle of its bucket; 0 if there are no numbers. */
double hodo_histogram_at(struct hodo_histogram *h, double q);
/* All h->buckets.n buckets in order, valid until the next number is added. NULL: no memory. */
const struct hodo_bucket *hodo_histogram_sorted(struct hodo_histogram *h);
double hodo_bucket_low(int64_t key); /* its bound towards zero */
void hodo_histogram_free(struct hodo_histogram *h); /* NULL is allowed */
