/* SPDX-License-Identifier: MIT */
/* pointer_map.c - see pointer_map.h. */
#include "pointer_map.h"

#include <stdlib.h>

static struct hodo_pointer_entry *find(const struct hodo_pointer_map *map, const void *key)
{
	size_t i = (size_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15ull) >> 20) & (map->room - 1);

	while (map->entries[i].key && map->entries[i].key != key)
		i = (i + 1) & (map->room - 1);
	return &map->entries[i];
}

static int grow(struct hodo_pointer_map *map)
{
	struct hodo_pointer_map more = { .room = map->room ? map->room * 2 : 64, .n = map->n };

	more.entries = calloc(more.room, sizeof(*more.entries));
	if (!more.entries)
		return -1;
	for (size_t i = 0; i < map->room; i++)
		if (map->entries[i].key)
			*find(&more, map->entries[i].key) = map->entries[i];
	free(map->entries);
	*map = more;
	return 0;
}

void **hodo_pointer_map_at(struct hodo_pointer_map *map, const void *key)
{
	struct hodo_pointer_entry *entry;

	if (map->n * 2 >= map->room && grow(map) < 0)
		return NULL;
	entry = find(map, key);
	if (!entry->key) {
		entry->key = key;
		map->n++;
	}
	return &entry->value;
}

void hodo_pointer_map_free(struct hodo_pointer_map *map, void (*drop)(void *value))
{
	for (size_t i = 0; drop && i < map->room; i++)
		if (map->entries[i].value)
			drop(map->entries[i].value);
	free(map->entries);
	*map = (struct hodo_pointer_map){ 0 };
}
