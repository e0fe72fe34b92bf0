/* SPDX-License-Identifier: MIT */
/* text.c - texts that are put together in room of a fixed size. */
#include "user.h"

bool hodo_text_add(char *to, size_t size, const char *text)
{
	size_t n = __builtin_strlen(to);

	while (*text && n < size - 1)
		to[n++] = *text++;
	to[n] = 0;
	return !*text;
}

bool hodo_text_number(char *to, size_t size, uint64_t n)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	return hodo_text_add(to, size, digits + at);
}
