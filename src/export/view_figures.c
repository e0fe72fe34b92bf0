/* SPDX-License-Identifier: MIT */
/* view_figures.c - see view_figures.h. */
#include "view_figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIGURES_MAX (1u << 17)

static uint32_t hash_of(uint32_t name, uint32_t track)
{
	return (uint32_t)(((uint64_t)track << 32 | name) * 0x9e3779b97f4a7c15ull >> 32);
}

static int grow(struct hodo_view_figures *f)
{
	uint32_t mask = f->mask ? 2 * f->mask + 1 : 255;
	uint32_t *table = calloc((size_t)mask + 1, sizeof(*table));
	struct hodo_view_figure *more = reallocarray(f->all, mask / 2 + 1, sizeof(*more));

	if (more)
		f->all = more;
	if (!table || !more) {
		free(table);
		return -ENOMEM;
	}
	f->room = mask / 2 + 1;
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t at = hash_of(f->all[i].name, f->all[i].track) & mask;

		while (table[at])
			at = (at + 1) & mask;
		table[at] = i + 1;
	}
	free(f->table);
	f->table = table;
	f->mask = mask;
	return 0;
}

struct hodo_view_figure *hodo_view_figure(struct hodo_view_figures *f, uint32_t name, uint32_t track, int *err)
{
	uint32_t at;

	*err = f->n == f->room && f->n < FIGURES_MAX ? grow(f) : 0;
	if (*err)
		return NULL;
	for (at = hash_of(name, track) & f->mask; f->table[at]; at = (at + 1) & f->mask) {
		struct hodo_view_figure *x = &f->all[f->table[at] - 1];

		if (x->name == name && x->track == track)
			return x;
	}
	if (f->n == FIGURES_MAX) {
		f->beyond++;
		return NULL;
	}
	f->all[f->n] = (struct hodo_view_figure){ .name = name, .track = track, .min = UINT64_MAX,
						  .last_cell = UINT64_MAX };
	f->table[at] = ++f->n;
	return &f->all[f->n - 1];
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
	for (uint32_t i = 0; i < f->n; i++)
		free(f->all[i].buckets);
	free(f->all);
	free(f->table);
	memset(f, 0, sizeof(*f));
}
