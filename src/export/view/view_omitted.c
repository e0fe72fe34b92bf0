/* SPDX-License-Identifier: MIT */
/* view_omitted.c - what was left out of the page: see view_omitted.h. */
#include "view_omitted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SHIFT 10u

int hodo_view_omitted_begin(struct hodo_view_omitted *o, uint32_t track)
{
	if (o->counts)
		return 0;
	o->cells = track < HODO_VIEW_OMITTED_FIRST ? HODO_VIEW_OMITTED_CELLS : HODO_VIEW_OMITTED_FEW;
	o->shift = FIRST_SHIFT;
	o->counts = calloc(o->cells, sizeof(*o->counts));
	return o->counts ? 0 : -ENOMEM;
}

static uint32_t sum(uint32_t a, uint32_t b)
{
	return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Two cells become one. */
static void widen(struct hodo_view_omitted *o)
{
	uint32_t half = o->cells / 2u;

	for (uint32_t i = 0; i < half; i++)
		o->counts[i] = sum(o->counts[2 * i], o->counts[2 * i + 1]);
	memset(o->counts + half, 0, half * sizeof(*o->counts));
	o->shift++;
}

void hodo_view_omitted_add(struct hodo_view_omitted *o, int64_t begin)
{
	uint64_t at = begin > 0 ? (uint64_t)begin : 0; /* calls may have begun before --since */

	if (!o->counts)
		return;
	while (at >> o->shift >= o->cells)
		widen(o);
	o->counts[at >> o->shift] = sum(o->counts[at >> o->shift], 1);
}

void hodo_view_omitted_free(struct hodo_view_omitted *o)
{
	free(o->counts);
	o->counts = NULL;
}
