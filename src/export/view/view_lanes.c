/* SPDX-License-Identifier: MIT */
/* view_lanes.c - rows for overlapping slices: each gets the first row that is free at its start. */
#include "view_work.h"

#include <errno.h>
#include <stdlib.h>

#define LANES 4096u /* a power of two; without a free one, a slice is drawn over others in the last */

/* A tree of minimums: the leaves, from LANES on, are the ends of the lanes. */
static uint32_t first_free(const int64_t *tree, int64_t at)
{
	uint32_t i = 1;

	if (tree[1] > at)
		return LANES - 1;
	while (i < LANES)
		i = 2 * i + (tree[2 * i] > at);
	return i - LANES;
}

static void set_end(int64_t *tree, uint32_t lane, int64_t end)
{
	uint32_t i = LANES + lane;

	tree[i] = end;
	for (i /= 2; i > 0; i /= 2)
		tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
}

int hodo_view_lanes(struct hodo_view_work *w)
{
	int64_t *tree = malloc(2 * LANES * sizeof(*tree));
	uint32_t track = UINT32_MAX;

	if (!tree)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->rows.n && hodo_view_class(&w->rows.rows[i]) == HODO_VIEW_SLICES; i++) {
		struct hodo_view_row *row = &w->rows.rows[i];
		int64_t end;

		if (row->kind == HODO_SLICE_ASYNC) {
			if (row->track != track)
				for (uint32_t k = 0; k < 2 * LANES; k++)
					tree[k] = INT64_MIN;
			row->depth = (uint16_t)first_free(tree, row->begin);
			if (__builtin_add_overflow(row->begin, (int64_t)row->duration, &end))
				end = INT64_MAX;
			set_end(tree, row->depth, end);
		}
		track = row->track;
		if (row->depth >= w->tracks[track].depth)
			w->tracks[track].depth = row->depth + 1u;
	}
	free(tree);
	return 0;
}
