/* SPDX-License-Identifier: MIT */
#include "hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

uint64_t hodo_hash_seeds[2];

static void draw_seed(void)
{
	/* If getrandom() is refused, or not ready: the kernel's random bytes from exec. */
	const void *at_exec = (const void *)getauxval(AT_RANDOM);

	if (getrandom(hodo_hash_seeds, sizeof(hodo_hash_seeds), GRND_NONBLOCK) != sizeof(hodo_hash_seeds) && at_exec)
		memcpy(hodo_hash_seeds, at_exec, sizeof(hodo_hash_seeds));
}

void hodo_hash_seed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, draw_seed);
}

static inline uint64_t rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

uint32_t hodo_hash_long(const void *data, size_t len)
{
	uint64_t v[4] = { hodo_hash_seeds[0] ^ 0x736f6d6570736575ull, hodo_hash_seeds[1] ^ 0x646f72616e646f6dull,
			  hodo_hash_seeds[0] ^ 0x6c7967656e657261ull, hodo_hash_seeds[1] ^ 0x7465646279746573ull };
	const uint8_t *p = data, *end = p + (len & ~(size_t)7);
	uint64_t word, last = (uint64_t)len << 56;

	for (; p < end; p += 8) {
		memcpy(&word, p, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < (len & 7); i++)
		last |= (uint64_t)p[i] << (8 * i);
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		sip_round(v);
	word = v[0] ^ v[1] ^ v[2] ^ v[3];
	return (uint32_t)(word ^ word >> 32);
}
