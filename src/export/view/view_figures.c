/* SPDX-License-Identifier: MIT */
#include "view_figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIGURES_MAX (1u << 17)

struct hodo_view_figure *hodo_view_figure(struct hodo_view_figures *f, uint32_t name, uint32_t track, int *err)
{
	const struct hodo_view_figure key = { .name = name, .track = track };
	struct hodo_view_figure *x;

	*err = 0;
	x = hodo_map_find_u64(&f->map, key.key);
	if (x)
		return x;
	if (f->map.n == FIGURES_MAX) {
		f->beyond++;
		return NULL;
	}
	x = hodo_map_add_u64(&f->map, key.key, NULL);
	if (!x) {
		*err = -ENOMEM;
		return NULL;
	}
	x->min = x->last_cell = UINT64_MAX;
	return x;
}

/* Makes the histogram reach to a power of two. */
static int reach(struct hodo_view_figure *x, unsigned power)
{
	unsigned low = x->powers && x->power < power ? x->power : power;
	unsigned high = x->powers && x->power + x->powers - 1u > power ? x->power + x->powers - 1u : power;
	uint64_t *more = calloc(8 * (size_t)(high - low + 1), sizeof(*more));

	if (!more)
		return -ENOMEM;
	if (x->powers)
		memcpy(more + 8 * (size_t)(x->power - low), x->buckets, 8 * (size_t)x->powers * sizeof(*more));
	free(x->buckets);
	x->buckets = more;
	x->power = (uint8_t)low;
	x->powers = (uint8_t)(high - low + 1);
	return 0;
}

int hodo_view_figure_add(struct hodo_view_figure *x, uint64_t duration_ns, uint64_t self_ns)
{
	uint32_t bucket = hodo_view_bucket(duration_ns);
	unsigned power = bucket / 8;

	if (power < x->power || power >= x->power + x->powers) {
		int err = reach(x, power);

		if (err)
			return err;
	}
	x->buckets[bucket - 8u * x->power]++;
	x->count++;
	x->total += (double)duration_ns;
	x->self += (double)self_ns;
	x->min = duration_ns < x->min ? duration_ns : x->min;
	x->max = duration_ns > x->max ? duration_ns : x->max;
	return 0;
}

void hodo_view_figures_free(struct hodo_view_figures *f)
{
	for (uint32_t i = 0; i < f->map.n; i++)
		free(((struct hodo_view_figure *)hodo_map_at(&f->map, i))->buckets);
	hodo_map_free(&f->map);
}
