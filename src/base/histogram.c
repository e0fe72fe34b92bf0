/* SPDX-License-Identifier: MIT */
/* histogram.c - see histogram.h. */
#include "histogram.h"

#include <stdlib.h>

#define PARTS (sizeof(((struct hodo_histogram *)0)->part) / sizeof(uint64_t *))

static uint64_t *slot(struct hodo_histogram *h, unsigned part, unsigned i)
{
	if (!h->part[part])
		h->part[part] = calloc(HODO_HISTOGRAM_SUB, sizeof(uint64_t));
	return h->part[part] ? &h->part[part][i] : NULL;
}

bool hodo_histogram_add(struct hodo_histogram *h, uint64_t value, uint64_t times)
{
	unsigned part = value < HODO_HISTOGRAM_SUB ? 0 : 63u - (unsigned)__builtin_clzll(value) - 5;
	uint64_t *s = slot(h, part, (unsigned)(part ? (value >> (part - 1)) - HODO_HISTOGRAM_SUB : value));

	if (!s)
		return false;
	*s += times;
	h->n += times;
	return true;
}

uint64_t hodo_histogram_at(const struct hodo_histogram *h, double q)
{
	double wanted = q * (double)h->n;
	uint64_t rank = (uint64_t)wanted, seen = 0;

	rank += (double)rank < wanted; /* up: the smallest value that enough are not above */
	rank = rank == 0 ? 1 : rank > h->n ? h->n : rank;
	for (unsigned part = 0; part < PARTS; part++) {
		for (unsigned i = 0; h->part[part] && i < HODO_HISTOGRAM_SUB; i++) {
			uint64_t low = part ? ((uint64_t)i + HODO_HISTOGRAM_SUB) << (part - 1) : i;

			seen += h->part[part][i];
			if (seen >= rank)
				return part ? low + (1ull << (part - 1)) / 2 : low; /* the bucket's middle */
		}
	}
	return 0;
}

void hodo_histogram_free(struct hodo_histogram *h)
{
	for (unsigned part = 0; part < PARTS; part++)
		free(h->part[part]);
}
