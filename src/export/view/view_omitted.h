/* SPDX-License-Identifier: MIT */
/*
 * view_omitted.h - how many slices and instants were left out of the page, by track and cells of time. Cells
 * have 2^shift ns and are few: when time exceeds them, their length doubles.
 */
#pragma once

#include <stdint.h>

#define HODO_VIEW_OMITTED_CELLS 512u /* of each of the first tracks */
#define HODO_VIEW_OMITTED_FEW   64u  /* cells of each other track, so that their memory is bounded */
#define HODO_VIEW_OMITTED_FIRST 1024u

struct hodo_view_omitted {
	uint32_t *counts; /* UINT32_MAX: at least that many; NULL: nothing was left out */
	uint16_t cells;
	uint8_t shift;
};

/* Before something is first left out of track number `track`. 0 or -ENOMEM. */
int hodo_view_omitted_begin(struct hodo_view_omitted *omitted, uint32_t track);
/* Counts an omission that begins at this time. Does nothing before hodo_view_omitted_begin(). */
void hodo_view_omitted_add(struct hodo_view_omitted *omitted, int64_t begin);
void hodo_view_omitted_free(struct hodo_view_omitted *omitted);
