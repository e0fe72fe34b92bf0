/* SPDX-License-Identifier: MIT */
/*
 * vec.h - arrays that grow.
 *
 * An array is what it always was, a pointer and a number of elements in a struct of the user's; free() frees it.
 * Where elements come singly, its room needs no member of its own: it is the number, rounded up to a power of two.
 */
#ifndef HODO_BASE_VEC_H
#define HODO_BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A new element behind the n that there are, all zero; n becomes one more. NULL: no memory, and nothing has changed.
 * array: a pointer to elements, NULL at first; n: an unsigned integer. What this filled must grow by
 * this alone.
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

/* Puts an item behind the n that there are. 0, or -ENOMEM and nothing has changed. */
#define hodo_vec_push(array, n, item)                                                          \
	({                                                                                     \
		__auto_type hodo_vec_slot = hodo_vec_add((array), (n));                           \
		if (hodo_vec_slot)                                                             \
			*hodo_vec_slot = (item);                                                \
		hodo_vec_slot ? 0 : -ENOMEM;                                                     \
	})

/*
 * Makes room for `wanted` elements in all; room: an unsigned integer, how many there is room for. 0, or -ENOMEM
 * and nothing has changed. New room is not zeroed.
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

/* Behind the macros. The array with room for element n, or for `wanted`; at most 2^31 elements. NULL: no memory. */
void *hodo_vec_extend_slow(void *array, size_t n, size_t element_bytes);
void *hodo_vec_grow(void *array, size_t *room, size_t wanted, size_t element_bytes);

static inline void *hodo_vec_extend(void *array, size_t n, size_t element_bytes)
{
	return n & (n - 1) ? array : hodo_vec_extend_slow(array, n, element_bytes);
}

#endif
