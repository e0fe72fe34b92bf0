/* SPDX-License-Identifier: MIT */
/* le.h - numbers in files, little-endian and unaligned. */
#pragma once

#include <stdint.h>

static inline void hodo_put_le32(uint8_t *p, uint32_t n)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> 8 * i);
}

static inline uint32_t hodo_get_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
