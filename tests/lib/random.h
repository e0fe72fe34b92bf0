/* SPDX-License-Identifier: MIT */
/* random.h - numbers that are the same in every run, from a state that starts with any number except 0. */
#ifndef HODO_TESTS_RANDOM_H
#define HODO_TESTS_RANDOM_H

#include <stdint.h>

/* xorshift64* */
static inline uint64_t xorshift(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

#endif
