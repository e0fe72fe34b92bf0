/* SPDX-License-Identifier: MIT */
/* text.c - builds texts in room of a fixed size. */
#include <core/bounded_text.h>
#include "libc.h"

bool hodo_fixed_text_add(char *to, size_t size, const char *text)
{
	size_t n = __builtin_strlen(to);

	while (*text && n < size - 1)
		to[n++] = *text++;
	to[n] = 0;
	return !*text;
}

bool hodo_fixed_text_number(char *to, size_t size, uint64_t n)
{
	char digits[24];
	struct hodo_bounded t = hodo_bounded_to(digits, sizeof(digits));

	hodo_bounded_number(&t, n);
	return hodo_fixed_text_add(to, size, digits);
}
