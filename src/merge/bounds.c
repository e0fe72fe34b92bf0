/* SPDX-License-Identifier: MIT */
#include "bounds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S      1e9
#define OFFSET_MAX_NS 1e15 /* from base_ns: eleven days */
#define USUAL_PPB     10000.0 /* drifts of most clocks are of this order */
#define SLICES        4096

/* --------------------------------------------------------------------------- lines */

int64_t hodo_time_map(const struct hodo_line_of_time *l, int64_t x_ns)
{
	__int128 x = (__int128)x_ns - l->x0_ns, y = l->y0_ns + x + (__int128)llrint((double)x * l->drift);

	return y > INT64_MAX ? INT64_MAX : y < INT64_MIN ? INT64_MIN : (int64_t)y;
}

struct hodo_line_of_time hodo_time_join(const struct hodo_line_of_time *a, const struct hodo_line_of_time *b,
					int64_t x_ns)
{
	return (struct hodo_line_of_time){ x_ns, hodo_time_map(b, hodo_time_map(a, x_ns)),
					   a->drift + b->drift + a->drift * b->drift };
}

struct hodo_line_of_time hodo_time_inverse(const struct hodo_line_of_time *l)
{
	return (struct hodo_line_of_time){ l->y0_ns, l->x0_ns, -l->drift / (1 + l->drift) };
}

/* ------------------------------------------------------------------------- polygon */

int hodo_bounds_begin(struct hodo_bounds *b, int64_t x0_ns, int64_t base_ns)
{
	const double o = OFFSET_MAX_NS, d = HODO_DRIFT_MAX_PPB;

	*b = (struct hodo_bounds){ .x0_ns = x0_ns, .base_ns = base_ns, .n = 4 };
	b->corner = calloc(HODO_BOUNDS_CORNERS, sizeof(*b->corner));
	if (!b->corner)
		return -ENOMEM;
	b->corner[0] = (struct hodo_corner){ -o, -d };
	b->corner[1] = (struct hodo_corner){ o, -d };
	b->corner[2] = (struct hodo_corner){ o, d };
	b->corner[3] = (struct hodo_corner){ -o, d };
	return 0;
}

void hodo_bounds_free(struct hodo_bounds *b)
{
	free(b->corner);
	b->corner = NULL;
	b->n = 0;
}

static double seconds(const struct hodo_bounds *b, int64_t x_ns)
{
	return (double)((__int128)x_ns - b->x0_ns) / NS_PER_S;
}

/* How much the line has to spare: negative if it does not satisfy the message. */
static double spare(const struct hodo_corner *c, double x, double bound, double sign)
{
	return sign * (c->offset + c->drift * x - bound);
}

/* Between a corner that stays and one that goes. */
static struct hodo_corner between(const struct hodo_corner *a, double spare_a, const struct hodo_corner *b,
				  double spare_b)
{
	double t = spare_a / (spare_a - spare_b);

	return (struct hodo_corner){ a->offset + t * (b->offset - a->offset), a->drift + t * (b->drift - a->drift) };
}

/* Cuts off the lines that do not satisfy the message. */
static void cut(struct hodo_bounds *b, double x, double bound, double sign)
{
	struct hodo_corner kept[HODO_BOUNDS_CORNERS];
	uint32_t n = 0, gone = 0;

	for (uint32_t i = 0; i < b->n; i++)
		gone += spare(&b->corner[i], x, bound, sign) < 0;
	/* A cut adds one corner at the most. */
	if (!gone || (gone < b->n && b->n - gone + 2 > HODO_BOUNDS_CORNERS))
		return;
	for (uint32_t i = 0; i < b->n && gone < b->n; i++) {
		const struct hodo_corner *c = &b->corner[i], *next = &b->corner[(i + 1) % b->n];
		double here = spare(c, x, bound, sign), there = spare(next, x, bound, sign);

		if (here >= 0)
			kept[n++] = *c;
		if ((here >= 0) != (there >= 0))
			kept[n++] = here >= 0 ? between(c, here, next, there) : between(next, there, c, here);
	}
	memcpy(b->corner, kept, n * sizeof(*kept));
	b->n = n;
}

/* Times are rounded down to nanoseconds: two may be one farther apart, or nearer, than they seem. */
void hodo_bounds_least(struct hodo_bounds *b, int64_t x_ns, int64_t correction_ns)
{
	b->least++;
	cut(b, seconds(b, x_ns), (double)((__int128)correction_ns - b->base_ns) - 1, 1);
}

void hodo_bounds_most(struct hodo_bounds *b, int64_t x_ns, int64_t correction_ns)
{
	b->most++;
	cut(b, seconds(b, x_ns), (double)((__int128)correction_ns - b->base_ns) + 1, -1);
}

/* The offsets of lines with this drift. false: there are none. */
static bool offsets(const struct hodo_bounds *b, double drift, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct hodo_corner *c = &b->corner[i], *next = &b->corner[(i + 1) % b->n];
		double from = c->drift - drift, to = next->drift - drift, at;

		if (from == 0)
			at = c->offset;
		else if ((from < 0) == (to < 0) || to == 0)
			continue;
		else
			at = c->offset + (next->offset - c->offset) * (from / (from - to));
		*low = fmin(*low, at);
		*high = fmax(*high, at);
	}
	return *low <= *high;
}

static void drifts(const struct hodo_bounds *b, double *least, double *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (uint32_t i = 0; i < b->n; i++) {
		*least = fmin(*least, b->corner[i].drift);
		*most = fmax(*most, b->corner[i].drift);
	}
}

struct hodo_line_of_time hodo_bounds_middle(const struct hodo_bounds *b)
{
	double least, most, low = 0, high = 0, weights = 0, drift = 0, offset = 0, mean;

	drifts(b, &least, &most);
	for (unsigned i = 0; i < SLICES; i++) {
		double at = least + (most - least) * (i + 0.5) / SLICES, usual = at / USUAL_PPB, weight;

		if (!offsets(b, at, &low, &high))
			continue;
		weight = (high - low) / (1 + usual * usual);
		weights += weight;
		drift += weight * at;
		offset += weight * (low + high) / 2;
	}
	/* One line alone, or nearly. */
	if (!(weights > 0)) {
		for (uint32_t i = 0; i < b->n; i++, weights++) {
			drift += b->corner[i].drift;
			offset += b->corner[i].offset;
		}
	}
	mean = offset / weights;
	return (struct hodo_line_of_time){ b->x0_ns, hodo_time_sum(hodo_time_sum(b->x0_ns, b->base_ns), llrint(mean)),
					   drift / weights / NS_PER_S };
}

double hodo_bounds_error_ns(const struct hodo_bounds *b, int64_t x_ns, int64_t y_ns)
{
	double x = seconds(b, x_ns), correction = (double)((__int128)y_ns - x_ns - b->base_ns), most = 0;

	for (uint32_t i = 0; i < b->n; i++)
		most = fmax(most, fabs(b->corner[i].offset + b->corner[i].drift * x - correction));
	return most;
}

int64_t hodo_bounds_clamp(const struct hodo_bounds *b, int64_t correction_ns)
{
	double low, high, at = (double)((__int128)correction_ns - b->base_ns);

	if (!offsets(b, 0, &low, &high))
		return correction_ns;
	return hodo_time_sum(b->base_ns, llrint(fmin(fmax(at, low), high)));
}
