/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - counts of values on a logarithmic scale: exact below 64, above
 * that 64 buckets for each power of two, so that a value read from it lies within 1 % of the true
 * one. Memory for the powers that occur only.
 */
#ifndef HODO_BASE_HISTOGRAM_H
#define HODO_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HODO_HISTOGRAM_SUB 64u

struct hodo_histogram {
	uint64_t *part[59]; /* 0: below 64; k: 2^(k+5) .. 2^(k+6) - 1 */
	uint64_t n;
};

/* false: no memory. */
bool hodo_histogram_add(struct hodo_histogram *h, uint64_t value, uint64_t times);
/* The value that q (0 .. 1) of all are not above; 0 if there is none. */
uint64_t hodo_histogram_at(const struct hodo_histogram *h, double q);
void hodo_histogram_free(struct hodo_histogram *h);

#endif
