/* SPDX-License-Identifier: MIT */
/* map.c - open addressing with linear probing; at most half of the slots are taken. */
#include "map.h"

#include <stdlib.h>

#define ENTRIES_MIN 16u
#define ENTRIES_MAX (1u << 30)

static inline uint32_t hash_of(const struct hodo_map *m, const void *key, size_t len)
{
	/* As hodo_map_find_u64() does. */
	return m->key_bytes == sizeof(uint64_t) ? hodo_hash_u64(hodo_hash_load(key)) : hodo_hash_bytes(key, len);
}

static inline bool is_key(const struct hodo_map *m, const void *entry, const void *key, size_t len)
{
	const struct hodo_bytes *bytes = entry;

	if (m->key_bytes)
		return hodo_hash_same(entry, key, len);
	return bytes->len == len && hodo_hash_same(bytes->data, key, len);
}

static inline void *find(const struct hodo_map *m, const void *key, size_t len, uint32_t hash)
{
	if (m->n == 0)
		return NULL;
	for (uint32_t i = hash & m->mask; m->slots[i].entry; i = (i + 1) & m->mask) {
		void *entry = hodo_map_at(m, m->slots[i].entry - 1);

		if (m->slots[i].hash == hash && is_key(m, entry, key, len))
			return entry;
	}
	return NULL;
}

void *hodo_map_find(const struct hodo_map *m, const void *key)
{
	return m->n ? find(m, key, m->key_bytes, hash_of(m, key, m->key_bytes)) : NULL;
}

void *hodo_map_find_bytes(const struct hodo_map *m, const void *data, size_t len)
{
	return m->n ? find(m, data, len, hash_of(m, data, len)) : NULL;
}

static void take_slot(struct hodo_map_slot *slots, uint32_t mask, uint32_t hash, uint32_t entry)
{
	uint32_t i = hash & mask;

	while (slots[i].entry)
		i = (i + 1) & mask;
	slots[i] = (struct hodo_map_slot){ hash, entry };
}

static bool grow(struct hodo_map *m)
{
	uint32_t room = m->room ? 2 * m->room : ENTRIES_MIN, mask = 2 * room - 1;
	struct hodo_map_slot *slots;
	void *entries;

	if (room > ENTRIES_MAX || m->entry_bytes == 0) /* not initialised as a map */
		return false;
	entries = reallocarray(m->entries, room, m->entry_bytes);
	if (entries)
		m->entries = entries;
	slots = entries ? calloc((size_t)mask + 1, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (uint32_t i = 0; m->room && i <= m->mask; i++)
		if (m->slots[i].entry)
			take_slot(slots, mask, m->slots[i].hash, m->slots[i].entry);
	free(m->slots);
	m->slots = slots;
	m->mask = mask;
	m->room = room;
	return true;
}

void *hodo_map_insert(struct hodo_map *m, const void *key, size_t len, uint32_t hash)
{
	void *entry;

	if (m->room == 0) { /* the caller's hash was computed before the seed was drawn */
		hodo_hash_seed();
		hash = hash_of(m, key, len);
	}
	if (m->n == m->room && !grow(m))
		return NULL;
	entry = hodo_map_at(m, m->n);
	memset(entry, 0, m->entry_bytes);
	if (m->key_bytes) {
		memcpy(entry, key, len);
	} else {
		struct hodo_bytes *bytes = entry;

		bytes->len = len;
		bytes->data = hodo_arena_copy(&m->bytes, key, len);
		if (!bytes->data)
			return NULL;
	}
	take_slot(m->slots, m->mask, hash, ++m->n);
	return entry;
}

static void *add(struct hodo_map *m, const void *key, size_t len, bool *is_new)
{
	uint32_t hash = hash_of(m, key, len);
	void *entry = find(m, key, len, hash);

	if (is_new)
		*is_new = !entry;
	return entry ? entry : hodo_map_insert(m, key, len, hash);
}

void *hodo_map_add(struct hodo_map *m, const void *key, bool *is_new)
{
	return add(m, key, m->key_bytes, is_new);
}

void *hodo_map_add_bytes(struct hodo_map *m, const void *data, size_t len, bool *is_new)
{
	return add(m, data, len, is_new);
}

void *hodo_map_keep(struct hodo_map *m, const void *key, size_t bytes)
{
	bool is_new;
	char *entry = hodo_map_add(m, key, &is_new);
	void *kept;

	if (!entry || !is_new)
		return hodo_map_kept(m, entry);
	kept = hodo_arena_zero(&m->bytes, bytes);
	memcpy(entry + m->key_bytes, &kept, sizeof(kept));
	if (!kept)
		hodo_map_remove(m, entry);
	return kept;
}

/* The slot of an entry with a known hash: by its number, not by its key. */
static uint32_t slot_of(const struct hodo_map *m, uint32_t entry)
{
	const void *key = hodo_map_at(m, entry);
	const struct hodo_bytes *bytes = key;
	uint32_t i = (m->key_bytes ? hash_of(m, key, m->key_bytes) : hash_of(m, bytes->data, bytes->len)) & m->mask;

	while (m->slots[i].entry != entry + 1)
		i = (i + 1) & m->mask;
	return i;
}

void hodo_map_remove(struct hodo_map *m, void *entry)
{
	uint32_t number = hodo_map_index(m, entry), last = m->n - 1, hole = slot_of(m, number);

	if (number != last)
		m->slots[slot_of(m, last)].entry = number + 1;
	/* Entries displaced by the freed slot move back, so that no search ends too soon. */
	for (uint32_t i = (hole + 1) & m->mask; m->slots[i].entry; i = (i + 1) & m->mask) {
		uint32_t home = m->slots[i].hash & m->mask;

		if (((i - home) & m->mask) >= ((i - hole) & m->mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].entry = 0;
	if (number != last)
		memcpy(entry, hodo_map_at(m, last), m->entry_bytes);
	m->n--;
}

void hodo_map_clear(struct hodo_map *m)
{
	if (m->n)
		memset(m->slots, 0, ((size_t)m->mask + 1) * sizeof(*m->slots));
	m->n = 0;
	hodo_arena_free(&m->bytes);
}

void hodo_map_free(struct hodo_map *m)
{
	hodo_arena_free(&m->bytes);
	free(m->entries);
	free(m->slots);
	*m = (struct hodo_map){ .entry_bytes = m->entry_bytes, .key_bytes = m->key_bytes };
}
