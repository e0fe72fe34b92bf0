/* SPDX-License-Identifier: MIT */
/* view_figures.h - exact figures for each name on each track of the page, over all slices, shown or not. */
#pragma once

#include <base/map.h>

struct hodo_view_figure {
	union {
		uint64_t key;
		struct {
			uint32_t name, track;
		};
	};
	uint64_t count;
	uint64_t last_cell; /* of an instant: that had the last one that stays */
	double total, self;
	uint64_t min, max;
	uint64_t *buckets; /* 8 for each power of two from `power` on */
	uint8_t power, powers;
};

struct hodo_view_figures {
	struct hodo_map map; /* of struct hodo_view_figure */
	uint64_t beyond; /* slices without room for their name and track */
};

#define HODO_VIEW_FIGURES { .map = HODO_MAP(struct hodo_view_figure, key) }

/* NULL: no memory, or too many (*err is 0). Valid until the next call. */
struct hodo_view_figure *hodo_view_figure(struct hodo_view_figures *figures, uint32_t name, uint32_t track, int *err);
/* 0 or -ENOMEM. */
int hodo_view_figure_add(struct hodo_view_figure *figure, uint64_t duration_ns, uint64_t self_ns);
void hodo_view_figures_free(struct hodo_view_figures *figures);

/* 8 buckets for a power of two: bucket b begins at 2^(b / 8) * (1 + b % 8 / 8) ns; what is below 1 is in the first. */
static inline uint32_t hodo_view_bucket(uint64_t ns)
{
	unsigned power = ns ? 63u - (unsigned)__builtin_clzll(ns) : 0;
	uint64_t rest = ns ? ns ^ 1ull << power : 0;

	return 8 * power + (uint32_t)(power >= 3 ? rest >> (power - 3) : rest << (3 - power));
}
