/* SPDX-License-Identifier: MIT */
/* cksum.c - computes cksum(1)'s checksum: a CRC over the bytes, and then over their number. */
#include "cksum.h"

#include <errno.h>
#include <stdlib.h>

#include <base/file.h>
#include <base/scope.h>

#define POLYNOMIAL 0x04c11db7u
#define PIECE      (256u << 10)

static void fill_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i << 24;

		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 31 ? POLYNOMIAL : 0);
		table[i] = crc;
	}
}

int hodo_cksum(int fd, uint32_t *sum, uint64_t *bytes)
{
	HODO_AUTO_FREE uint8_t *piece = malloc(PIECE);
	uint32_t table[256], crc = 0;
	ssize_t n = PIECE;

	if (!piece)
		return -ENOMEM;
	fill_table(table);
	*bytes = 0;
	while (n == PIECE) {
		n = hodo_file_read_at(fd, piece, PIECE, *bytes);
		if (n < 0)
			return (int)n;
		for (ssize_t i = 0; i < n; i++)
			crc = crc << 8 ^ table[crc >> 24 ^ piece[i]];
		*bytes += (uint64_t)n;
	}
	for (uint64_t left = *bytes; left; left >>= 8)
		crc = crc << 8 ^ table[crc >> 24 ^ (left & 0xff)];
	*sum = ~crc;
	return 0;
}
