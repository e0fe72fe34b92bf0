/* SPDX-License-Identifier: MIT */
/*
 * map.h - tables by key.
 *
 * A map stores entries of one size, contiguously in order of insertion, and finds them by the key with which
 * each begins: a fixed number of bytes, compared as a whole, or a byte string. No visible behaviour depends
 * on hashes, which differ from run to run (hash.h). An entry takes its own size plus 16 to 32 bytes.
 *
 *	struct row { uint64_t id, calls; };                 struct name { struct hodo_bytes name; unsigned uses; };
 *	struct hodo_map rows = HODO_MAP(struct row, id);    struct hodo_map names = HODO_MAP_BYTES(struct name);
 *	struct row *row = hodo_map_add_u64(&rows, id, 0);   struct name *name = hodo_map_add_bytes(&names, s, n, 0);
 *	if (!row)
 *		return -ENOMEM;
 *
 * Pointers to entries are valid until the next one is added or removed; numbers of entries (hodo_map_index())
 * until the next one is removed. Maps are not thread safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "hash.h"

/* A key that is a byte string. In a map's entry: the map's copy, followed by a NUL. */
struct hodo_bytes {
	const char *data;
	size_t len;
};

struct hodo_map {
	void *entries; /* n of them, contiguous */
	uint32_t n, room;
	uint32_t entry_bytes, key_bytes; /* key_bytes 0: byte strings */
	struct hodo_map_slot {
		uint32_t hash, entry; /* entry: its number + 1; 0: none */
	} *slots;
	uint32_t mask;           /* slots - 1 */
	struct hodo_arena bytes; /* for the byte strings, and for kept things */
};

/* An empty map. The key is the entry's first member, an integer or a struct without padding. */
#define HODO_MAP(type, key)                                                                                 \
	{                                                                                                   \
		.entry_bytes = sizeof(type),                                                                \
		.key_bytes = sizeof(((type *)0)->key) + 0 * sizeof(char[offsetof(type, key) == 0 ? 1 : -1]) \
	}
/* An empty map by byte strings; the entry's first member is a struct hodo_bytes. */
#define HODO_MAP_BYTES(type) { .entry_bytes = sizeof(type) }

/* A map of things that do not move: an entry is a key of 8 or 16 bytes, and a pointer to the thing. */
#define HODO_MAP_KEPT(key_type) { .entry_bytes = sizeof(key_type) + sizeof(void *), .key_bytes = sizeof(key_type) }

/* The entry of this key; NULL: there is none. */
void *hodo_map_find(const struct hodo_map *m, const void *key);
void *hodo_map_find_bytes(const struct hodo_map *m, const void *data, size_t len);
static inline void *hodo_map_find_u64(const struct hodo_map *m, uint64_t key); /* keys of 8 bytes */

/*
 * The entry with this key, created if missing: then zero after the key, and *is_new (which may be NULL) is
 * true. NULL: no memory, or 2^30 entries. Maps filled from hostile data need a lower bound: check n first.
 */
void *hodo_map_add(struct hodo_map *m, const void *key, bool *is_new);
void *hodo_map_add_bytes(struct hodo_map *m, const void *data, size_t len, bool *is_new);
static inline void *hodo_map_add_u64(struct hodo_map *m, uint64_t key, bool *is_new);

/* The thing kept under this key, created with that many zero bytes if missing. NULL: no memory. */
void *hodo_map_keep(struct hodo_map *m, const void *key, size_t bytes);
static inline void *hodo_map_keep_u64(struct hodo_map *m, uint64_t key, size_t bytes);

/* Removes an entry; the last one takes its place and number. The copy of a byte string stays until the map is freed. */
void hodo_map_remove(struct hodo_map *m, void *entry);
void hodo_map_clear(struct hodo_map *m); /* no entries; keeps the memory, except for byte strings */
void hodo_map_free(struct hodo_map *m);  /* empty as at first */

static inline void *hodo_map_at(const struct hodo_map *m, uint32_t i)
{
	return (char *)m->entries + (size_t)i * m->entry_bytes;
}

static inline uint32_t hodo_map_index(const struct hodo_map *m, const void *entry)
{
	return (uint32_t)((size_t)((const char *)entry - (const char *)m->entries) / m->entry_bytes);
}

/* The thing of an entry in a HODO_MAP_KEPT; NULL if the entry is NULL. */
static inline void *hodo_map_kept(const struct hodo_map *m, const void *entry)
{
	return entry ? *(void *const *)(const void *)((const char *)entry + m->key_bytes) : NULL;
}

static inline void *hodo_map_kept_at(const struct hodo_map *m, uint32_t i)
{
	return hodo_map_kept(m, hodo_map_at(m, i));
}

/* ----------------------------------------------------------------- for hot loops */

void *hodo_map_insert(struct hodo_map *m, const void *key, size_t len, uint32_t hash);

static inline void *hodo_map_find_u64(const struct hodo_map *m, uint64_t key)
{
	uint32_t hash;

	if (m->n == 0)
		return NULL;
	hash = hodo_hash_u64(key);
	for (uint32_t i = hash & m->mask; m->slots[i].entry; i = (i + 1) & m->mask) {
		void *entry = hodo_map_at(m, m->slots[i].entry - 1);

		if (m->slots[i].hash == hash && memcmp(entry, &key, sizeof(key)) == 0)
			return entry;
	}
	return NULL;
}

static inline void *hodo_map_add_u64(struct hodo_map *m, uint64_t key, bool *is_new)
{
	void *entry = hodo_map_find_u64(m, key);

	if (is_new)
		*is_new = !entry;
	return entry ? entry : hodo_map_insert(m, &key, sizeof(key), hodo_hash_u64(key));
}

static inline void *hodo_map_keep_u64(struct hodo_map *m, uint64_t key, size_t bytes)
{
	void *kept = hodo_map_kept(m, hodo_map_find_u64(m, key));

	return kept ? kept : hodo_map_keep(m, &key, bytes);
}
