/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <stdint.h>
#include <string.h>

int hodo_order_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return hodo_order(*x, *y);
}

int hodo_order_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return hodo_order(*x, *y);
}

int hodo_order_text(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}
