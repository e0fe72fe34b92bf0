/* SPDX-License-Identifier: MIT */
/* le.h - numbers in files, little-endian and unaligned. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline void hodo_put_le32(uint8_t *p, uint32_t n)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> 8 * i);
}

static inline uint64_t hodo_get_le(const uint8_t *p, size_t len)
{
	uint64_t n = 0;

	while (len--)
		n = n << 8 | p[len];
	return n;
}
