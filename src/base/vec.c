/* SPDX-License-Identifier: MIT */
#include "vec.h"

#include <stdlib.h>

#define ELEMENTS_MAX ((size_t)1 << 31)

void *hodo_vec_extend_slow(void *array, size_t n, size_t element_bytes)
{
	return n >= ELEMENTS_MAX ? NULL : reallocarray(array, n ? 2 * n : 1, element_bytes);
}

void *hodo_vec_grow(void *array, size_t *room, size_t wanted, size_t element_bytes)
{
	size_t more = *room ? *room : 16;

	if (wanted > ELEMENTS_MAX)
		return NULL;
	while (more < wanted)
		more *= 2;
	array = reallocarray(array, more, element_bytes);
	if (array)
		*room = more;
	return array;
}
