/* SPDX-License-Identifier: MIT */
/* pointer_map.h - what belongs to something of a recording, found by its address. */
#ifndef HODO_EXPORT_POINTER_MAP_H
#define HODO_EXPORT_POINTER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hodo_pointer_map {
	struct hodo_pointer_entry {
		const void *key; /* NULL: free */
		void *value;
	} *entries;
	size_t room; /* a power of two, or 0 */
	size_t n;
};

/* The place of key's value, NULL there at first; valid until the next call. NULL: no memory. key is not NULL. */
void **hodo_pointer_map_at(struct hodo_pointer_map *map, const void *key);
/* drop is called with each value that is not NULL; it may be NULL. */
void hodo_pointer_map_free(struct hodo_pointer_map *map, void (*drop)(void *value));

#endif
