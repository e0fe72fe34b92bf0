/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* search.h - binary search for the place of something that need not be there. */
#pragma once

#include <stdint.h>

/*
 * The index, below n, of the first element for which `is_behind` is true, or n. is_behind is an expression in
 * `i`, the element's index; it is false up to some element and true from there on.
 *
 *	uint32_t behind = hodo_search(i, o->n, o->list[i].start > address);
 */
#define hodo_search(i, n, is_behind)                                       \
	({                                                                 \
		uint32_t hodo_low = 0, hodo_high = (n);                     \
		while (hodo_low < hodo_high) {                             \
			uint32_t i = hodo_low + (hodo_high - hodo_low) / 2; \
			if (is_behind)                                     \
				hodo_high = i;                             \
			else                                               \
				hodo_low = i + 1;                           \
		}                                                          \
		hodo_low;                                                  \
	})
