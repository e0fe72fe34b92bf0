/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define SUB  HODO_HISTOGRAM_SUB
#define BASE 1100 /* makes all exponents of a double positive */

static int64_t key_of_double(double number)
{
	double m;
	int exponent;

	if (number == 0)
		return 0;
	m = frexp(isinf(number) ? DBL_MAX : fabs(number), &exponent); /* 0.5 .. 1 */
	exponent = (exponent + BASE) * SUB + (int)((m - 0.5) * 2 * SUB);
	return number < 0 ? -exponent : exponent;
}

/* key_of_double() of a whole number, fast. */
static int64_t key_of(uint64_t number)
{
	int zeros;

	if (number == 0)
		return 0;
	zeros = __builtin_clzll(number);
	return (64 - zeros + BASE) * SUB + (int64_t)(number << zeros << 1 >> 58);
}

double hodo_bucket_low(int64_t key)
{
	int64_t k = llabs(key);
	double low = key ? ldexp(0.5 + (double)(k % SUB) / (2 * SUB), (int)(k / SUB) - BASE) : 0;

	return key < 0 ? -low : low;
}

static bool count(struct hodo_histogram *h, int64_t key, uint64_t times)
{
	struct hodo_bucket *b = hodo_map_add_u64(&h->buckets, (uint64_t)key, NULL);

	if (!b)
		return false;
	b->n += times;
	h->n += times;
	return true;
}

bool hodo_histogram_add(struct hodo_histogram *h, uint64_t number, uint64_t times)
{
	return count(h, key_of(number), times);
}

bool hodo_histogram_add_double(struct hodo_histogram *h, double number, bool whole)
{
	if (isnan(number))
		return true;
	h->parts |= !whole && number != trunc(number);
	return count(h, key_of_double(number), 1);
}

static int by_key(const void *a, const void *b)
{
	const struct hodo_bucket *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

const struct hodo_bucket *hodo_histogram_sorted(struct hodo_histogram *h)
{
	if (h->sorted && h->nsorted == h->n)
		return h->sorted;
	free(h->sorted);
	h->sorted = calloc((size_t)h->buckets.n + 1, sizeof(*h->sorted));
	if (!h->sorted || !h->n)
		return h->sorted;
	memcpy(h->sorted, h->buckets.entries, h->buckets.n * sizeof(*h->sorted));
	qsort(h->sorted, h->buckets.n, sizeof(*h->sorted), by_key);
	h->nsorted = h->n;
	return h->sorted;
}

/* Of whole numbers one of these. */
static double middle(const struct hodo_histogram *h, int64_t key)
{
	double low = hodo_bucket_low(key), high = key ? hodo_bucket_low(key < 0 ? key - 1 : key + 1) : 0;

	if (h->parts)
		return low + (high - low) / 2;
	return trunc(low + (fabs(high - low) > 1 ? (high - low) / 2 : 0));
}

double hodo_histogram_at(struct hodo_histogram *h, double q)
{
	const struct hodo_bucket *all = hodo_histogram_sorted(h);
	uint64_t rank = (uint64_t)ceil(q * (double)h->n), seen = 0;
	uint32_t i = 0;

	rank = rank == 0 ? 1 : rank > h->n ? h->n : rank;
	while (all && i < h->buckets.n && (seen += all[i].n) < rank)
		i++;
	return all && i < h->buckets.n ? middle(h, all[i].key) : 0;
}

void hodo_histogram_free(struct hodo_histogram *h)
{
	if (!h)
		return;
	hodo_map_free(&h->buckets);
	free(h->sorted);
	*h = (struct hodo_histogram)HODO_HISTOGRAM;
}
