/* SPDX-License-Identifier: MIT */
/*
 * vec.h - arrays that grow.
 *
 * An array is an ordinary pointer and a number of elements in the user's struct; free() frees it. If elements
 * are added one at a time, its capacity needs no member: it is the number, rounded up to a power of two.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Appends an element, all zero, to the present n; increments n. NULL: no memory, and nothing has changed.
 * array: a pointer to elements, NULL at first; n: an unsigned integer. Such an array must grow only by this.
 *
 *	struct loss *loss = hodo_vec_add(l->losses, l->n);
 */
#define hodo_vec_add(array, n)                                                                \
	({                                                                                    \
		__auto_type hodo_vec_new = hodo_vec_extend((array), (n), sizeof(*(array)));       \
		__typeof__(array) hodo_vec_at = NULL;                                            \
		if (hodo_vec_new) {                                                              \
			(array) = hodo_vec_new;                                                 \
			hodo_vec_at = &(array)[(n)++];                                          \
			memset(hodo_vec_at, 0, sizeof(*hodo_vec_at));                           \
		}                                                                           \
		hodo_vec_at;                                                                  \
	})

/* Appends an item to the present n. 0, or -ENOMEM and nothing has changed. */
#define hodo_vec_push(array, n, item)                                                          \
	({                                                                                     \
		__auto_type hodo_vec_slot = hodo_vec_add((array), (n));                           \
		if (hodo_vec_slot)                                                             \
			*hodo_vec_slot = (item);                                                \
		hodo_vec_slot ? 0 : -ENOMEM;                                                     \
	})

/*
 * Makes room for `wanted` elements in total; room: an unsigned integer, the capacity. 0, or -ENOMEM and
 * nothing has changed. New room is not zeroed.
 */
#define hodo_vec_reserve(array, room, wanted)                                                                \
	({                                                                                                   \
		size_t hodo_vec_room = (room);                                                                  \
		int hodo_vec_err = 0;                                                                        \
		if ((size_t)(wanted) > hodo_vec_room) {                                                         \
			void *hodo_vec_new = hodo_vec_grow((array), &hodo_vec_room, (wanted), sizeof(*(array)));   \
			if (hodo_vec_new) {                                                                  \
				(array) = hodo_vec_new;                                                     \
				(room) = (__typeof__(room))hodo_vec_room;                                   \
			}                                                                               \
			hodo_vec_err = hodo_vec_new ? 0 : -ENOMEM;                              \
		}                                                                                       \
		hodo_vec_err;                                                                            \
	})

/*
 * Used by the macros. The array with room for element n, or for `wanted`; at most 2^31 elements. NULL: no
 * memory.
 */
void *hodo_vec_extend_slow(void *array, size_t n, size_t element_bytes);
void *hodo_vec_grow(void *array, size_t *room, size_t wanted, size_t element_bytes);

static inline void *hodo_vec_extend(void *array, size_t n, size_t element_bytes)
{
	return n & (n - 1) ? array : hodo_vec_extend_slow(array, n, element_bytes);
}
