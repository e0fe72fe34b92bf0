/* SPDX-License-Identifier: MIT */
/* order.h - orders for qsort(3) and bsearch(3). */
#pragma once

#include <stdlib.h>

/* Negative, 0 or positive: a is before b, beside it or behind it. Both are numbers or pointers. */
#define hodo_order(a, b) (((a) > (b)) - ((a) < (b)))

/* Sorts n elements; NULL will do if there are none. */
#define hodo_order_sort(array, n, order)                                \
	({                                                              \
		if (n)                                                  \
			qsort((array), (n), sizeof(*(array)), (order)); \
	})

/* Of elements that begin with a number of 64 bits, with one of 32, or with the address of a text. */
int hodo_order_u64(const void *a, const void *b);
int hodo_order_u32(const void *a, const void *b);
int hodo_order_text(const void *a, const void *b);
