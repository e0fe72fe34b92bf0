/* SPDX-License-Identifier: MIT */
/* sort.c - a radix sort, least significant byte first: no comparisons, and no deep stack. */
#include "names.h"
#include <user/libc/sys.h>

static void pass(const uint32_t *from, uint32_t *to, uint32_t n, size_t words, unsigned shift)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		at[from[i * words] >> shift & 255]++;
	for (unsigned i = 0; i < 256; i++) {
		uint32_t here = at[i];

		at[i] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < n; i++, from += words) {
		uint32_t *place = to + words * at[*from >> shift & 255]++;

		for (size_t w = 0; w < words; w++)
			place[w] = from[w];
	}
}

bool hodo_sort(void *items, uint32_t n, size_t words)
{
	size_t bytes = n * words * sizeof(uint32_t);
	void *other = n ? hodo_map(bytes) : 0;

	for (unsigned shift = 0; shift < 32 && other; shift += 16) {
		pass(items, other, n, words, shift);
		pass(other, items, n, words, shift + 8);
	}
	if (other)
		hodo_sys2(SYS_munmap, other, bytes);
	return other || !n;
}
