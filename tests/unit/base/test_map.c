/* SPDX-License-Identifier: MIT */
/* test_map.c - maps, interned strings, vectors and histograms, against plain arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <lib/unit.h>

#include <base/histogram.h>
#include <base/intern.h>
#include <base/map.h>
#include <base/vec.h>

struct number {
	uint64_t key;
	uint32_t value;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Adds, finds and removes random keys from a small range; a plain array knows what the map must hold. */
TEST(test_u64)
{
	struct hodo_map map = HODO_MAP(struct number, key);
	static uint32_t expected[1000]; /* 0: no such key */
	uint64_t random = 88172645463325252ull;
	uint32_t n = 0;

	assert_null(hodo_map_find_u64(&map, 0));
	for (uint32_t i = 1; i < 200000; i++) {
		uint64_t key = next_random(&random) % 1000, wide = key * 0x100000000ull;
		struct number *e = hodo_map_find_u64(&map, wide);
		bool is_new;

		assert_int_equal(e ? e->value : 0, expected[key]);
		assert_ptr_equal(hodo_map_find(&map, &wide), e);
		if (next_random(&random) % 3 == 0 && e) {
			hodo_map_remove(&map, e);
			expected[key] = 0;
			n--;
		} else {
			e = i & 1 ? hodo_map_add_u64(&map, wide, &is_new) : hodo_map_add(&map, &wide, &is_new);
			assert_non_null(e);
			assert_int_equal(is_new, expected[key] == 0);
			assert_int_equal(e->value, expected[key]);
			n += is_new;
			e->value = expected[key] = i;
		}
		assert_int_equal(map.n, n);
	}
	for (uint32_t i = 0; i < map.n; i++) {
		struct number *e = hodo_map_at(&map, i);

		assert_int_equal(e->value, expected[e->key >> 32]);
		assert_int_equal(hodo_map_index(&map, e), i);
	}
	hodo_map_clear(&map);
	assert_null(hodo_map_find_u64(&map, 0));
	assert_non_null(hodo_map_add_u64(&map, 5, NULL));
	hodo_map_free(&map);
	assert_int_equal(map.n, 0);
}

struct pair {
	struct {
		uint64_t a;
		uint32_t b, c;
	} key;
	uint32_t n;
};

struct word {
	uint8_t key[3];
	uint8_t n;
};

TEST(test_structs)
{
	struct hodo_map pairs = HODO_MAP(struct pair, key), words = HODO_MAP(struct word, key);

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			struct pair key = { .key = { i % 7, i % 11, i } };
			uint8_t word[3] = { (uint8_t)i, (uint8_t)(i >> 8), 1 };
			struct pair *p = hodo_map_add(&pairs, &key.key, NULL);
			struct word *w = hodo_map_add(&words, word, NULL);

			assert_int_equal(p->n++, round);
			assert_int_equal(w->n++, round);
			assert_int_equal(hodo_map_index(&pairs, p), i); /* in the order in which they were added */
		}
	}
	assert_int_equal(pairs.n, 5000);
	assert_int_equal(words.n, 5000);
	hodo_map_free(&pairs);
	hodo_map_free(&words);
}

/* Two strings with the same FNV-1a hash stay two strings, and so do strings that differ after a NUL. */
TEST(test_strings)
{
	struct hodo_strings s = { 0 };
	char text[32];
	const char *first;

	assert_int_equal(hodo_strings_add(&s, "8yn0iYCKYHlIj4-BwPqk"), 0);
	first = hodo_strings_at(&s, 0);
	assert_int_equal(hodo_strings_add(&s, "GReLUrM4wMqfg9yzV3KQ"), 1);
	assert_int_equal(hodo_strings_add_bytes(&s, "a\0b", 3), 2);
	assert_int_equal(hodo_strings_add_bytes(&s, "a\0c", 3), 3);
	assert_int_equal(hodo_strings_add_bytes(&s, "", 0), 4);
	assert_int_equal(hodo_strings_add_plain(&s, "a\n\xff"), 5);
	assert_string_equal(hodo_strings_at(&s, 5), "a\\n\\xff");
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 20000; i++) {
			snprintf(text, sizeof(text), "name %u", i);
			assert_int_equal(hodo_strings_add(&s, text), 6 + i);
		}
	}
	assert_ptr_equal(hodo_strings_at(&s, 0), first);
	assert_string_equal(hodo_strings_at(&s, 6 + 19999), "name 19999");
	/* Found by its address; the same text at another address is the same string. */
	for (unsigned round = 0; round < 2; round++)
		assert_int_equal(hodo_strings_add_fixed(&s, text), 6 + 19999);
	assert_int_equal(hodo_strings_add_fixed(&s, first), 0);
	hodo_strings_free(&s);
	assert_int_equal(hodo_strings_add(&s, "again"), 0);
	hodo_strings_free(&s);
}

/* SipHash-1-3 of 0 .. 15 bytes under the paper's key, from an independent implementation, folded to 32 bits. */
/* Each byte and the number of bytes affect the hash, on both sides of word boundaries. */
TEST(test_short_keys)
{
	uint8_t a[48], b[48];

	hodo_hash_seed();
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	for (size_t len = 0; len <= sizeof(a); len++) {
		assert_true(hodo_hash_same(a, b, len));
		assert_int_equal(hodo_hash_bytes(a, len), hodo_hash_bytes(b, len));
		if (len)
			assert_int_not_equal(hodo_hash_bytes(a, len), hodo_hash_bytes(a, len - 1));
		for (size_t i = 0; i < len; i++) {
			b[i] = 0x80;
			assert_false(hodo_hash_same(a, b, len));
			assert_int_not_equal(hodo_hash_bytes(a, len), hodo_hash_bytes(b, len));
			b[i] = 0;
		}
	}
}

TEST(test_siphash)
{
	static const uint64_t expected[] = {
		0xabac0158050fc4dcull, 0xc9f49bf37d57ca93ull, 0x82cb9b024dc7d44dull, 0x8bf80ab8e7ddf7fbull,
		0xcf75576088d38328ull, 0xdef9d52f49533b67ull, 0xc50d2b50c59f22a7ull, 0xd3927d989bb11140ull,
		0x369095118d299a8eull, 0x25a48eb36c063de4ull, 0x79de85ee92ff097full, 0x70c118c1f94dc352ull,
		0x78a384b157b4d9a2ull, 0x306f760c1229ffa7ull, 0x605aa111c0f95d34ull, 0xd320d86d2a519956ull,
	};
	uint8_t key[16], data[15];
	uint64_t seeds[2];

	hodo_hash_seed();
	memcpy(seeds, hodo_hash_seeds, sizeof(seeds));
	assert_true(seeds[0] || seeds[1]);
	for (unsigned i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	for (unsigned i = 0; i < 15; i++)
		data[i] = (uint8_t)i;
	memcpy(hodo_hash_seeds, key, sizeof(key));
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(hodo_hash_long(data, i), (uint32_t)(expected[i] ^ expected[i] >> 32));
	hodo_hash_seed(); /* does nothing: the seeds are drawn only once */
	assert_int_equal(hodo_hash_long(data, 0), (uint32_t)(expected[0] ^ expected[0] >> 32));
	memcpy(hodo_hash_seeds, seeds, sizeof(seeds));
}

TEST(test_vec)
{
	struct number *list = NULL, *e;
	uint32_t n = 0, room = 0, *reserved = NULL;

	for (uint32_t i = 0; i < 3000; i++) {
		e = hodo_vec_add(list, n);
		assert_non_null(e);
		assert_int_equal(e->key + e->value, 0);
		e->value = i;
		assert_int_equal(n, i + 1);
	}
	n = 5; /* a list that was cut short may grow again */
	for (uint32_t i = 5; i < 100; i++)
		hodo_vec_add(list, n)->value = i;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(list[i].value, i);
	free(list);
	assert_int_equal(hodo_vec_reserve(reserved, room, 1), 0);
	assert_int_equal(room, 16);
	assert_int_equal(hodo_vec_reserve(reserved, room, 1000), 0);
	assert_true(room >= 1000);
	reserved[999] = 1;
	assert_int_equal(hodo_vec_reserve(reserved, room, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(reserved[999], 1);
	free(reserved);
}

TEST(test_histogram)
{
	struct hodo_histogram h = HODO_HISTOGRAM, numbers = HODO_HISTOGRAM;

	assert_true(hodo_histogram_at(&h, 0.5) == 0);
	for (uint64_t v = 1; v <= 100000; v++)
		assert_true(hodo_histogram_add(&h, v, 1));
	assert_int_equal(h.n, 100000);
	for (double q = 0.0001; q < 1; q += 0.0101) {
		double at = hodo_histogram_at(&h, q), exact = q * 100000;

		assert_true(at > exact * 0.985 - 1 && at < exact * 1.015 + 1);
	}
	assert_true(hodo_histogram_add(&h, UINT64_MAX, 1));
	assert_true(hodo_histogram_at(&h, 1) > (double)(UINT64_MAX / 100 * 98));
	/* Whole numbers fall into the same buckets whichever function adds them. */
	hodo_histogram_free(&h);
	for (uint64_t v = 0; v < 1ull << 53; v = v * 17 / 16 + 1)
		assert_true(hodo_histogram_add(&h, v, 1) && hodo_histogram_add_double(&numbers, (double)v, true));
	assert_int_equal(h.buckets.n, numbers.buckets.n);
	for (uint32_t i = 0; i < h.buckets.n; i++)
		assert_int_equal(hodo_histogram_sorted(&h)[i].key, hodo_histogram_sorted(&numbers)[i].key);
	for (double v = -1e300; v < -1e-300; v /= 3) {
		assert_true(hodo_histogram_add_double(&numbers, v, false));
		assert_true(hodo_histogram_at(&numbers, 0) >= -1e300 * 1.01);
	}
	assert_true(hodo_histogram_at(&numbers, 0) <= -1e300 * 0.99);
	hodo_histogram_free(&numbers);
	hodo_histogram_free(&h);
}

TEST(test_arena)
{
	struct hodo_arena a = { 0 };

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 1000; i++)
			assert_string_equal(hodo_arena_copy(&a, "some text", 9), "some text");
		hodo_arena_clear(&a);
	}
	hodo_arena_free(&a);
	hodo_arena_clear(&a);
	assert_null(a.block);
}
