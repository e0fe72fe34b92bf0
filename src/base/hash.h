/* SPDX-License-Identifier: MIT */
/*
 * hash.h - seeded hashes, only for tables: nobody can construct colliding keys (docs/design/base.md). A hash
 * only says where to look: the key is always compared, and the hash is never stored, printed, or used for
 * sorting.
 *
 * Any thread may call these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HODO_HASH_SHORT 32u /* bytes: up to here words are faster than calls */

/* Drawn by hodo_hash_seed(); read it only through the functions below. */
extern uint64_t hodo_hash_seeds[2];

/* Draws the seed at its first call. Call it before the functions below. */
void hodo_hash_seed(void);

/* Bytes: SipHash-1-3 (Aumasson and Bernstein, 2012), folded. */
uint32_t hodo_hash_long(const void *data, size_t len);

/* One step of a hash of words: the product of both 64-bit factors, its halves folded. */
static inline uint64_t hodo_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ hodo_hash_seeds[0]) * (b ^ hodo_hash_seeds[1]);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint32_t hodo_hash_u64(uint64_t key)
{
	uint64_t h = hodo_hash_mix(key, 0x9e3779b97f4a7c15ull);

	return (uint32_t)(h ^ h >> 32);
}

static inline uint64_t hodo_hash_load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* A word that, with the length, identifies up to 8 bytes. */
static inline uint64_t hodo_hash_word(const uint8_t *p, size_t len)
{
	uint32_t first, last;

	if (len == 8)
		return hodo_hash_load(p);
	if (len < 4)
		return len ? p[0] | (uint64_t)p[len / 2] << 8 | (uint64_t)p[len - 1] << 16 : 0;
	memcpy(&first, p, 4);
	memcpy(&last, p + len - 4, 4);
	return first | (uint64_t)last << 32;
}

/* Bytes: if few, a hash of words, the last of which may overlap the previous one; else hodo_hash_long(). */
static inline uint32_t hodo_hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = len;

	if (len > HODO_HASH_SHORT)
		return hodo_hash_long(data, len);
	if (len <= 8) {
		h = hodo_hash_mix(h, hodo_hash_word(p, len));
	} else {
		for (size_t at = 0; at < len - 8; at += 8)
			h = hodo_hash_mix(h, hodo_hash_load(p + at));
		h = hodo_hash_mix(h, hodo_hash_load(p + len - 8));
	}
	return (uint32_t)(h ^ h >> 32);
}

/* Whether a and b are the same bytes: by words, as they are hashed. */
static inline bool hodo_hash_same(const void *a, const void *b, size_t len)
{
	const uint8_t *p = a, *q = b;

	if (len > HODO_HASH_SHORT)
		return memcmp(p, q, len) == 0;
	if (len <= 8)
		return hodo_hash_word(p, len) == hodo_hash_word(q, len);
	for (size_t at = 0; at < len - 8; at += 8)
		if (hodo_hash_load(p + at) != hodo_hash_load(q + at))
			return false;
	return hodo_hash_load(p + len - 8) == hodo_hash_load(q + len - 8);
}
