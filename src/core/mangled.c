/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* mangled.c - see mangled.h. */
#include "mangled.h"

size_t hodo_mangled_name(const char *mangled, char *out, size_t size)
{
	size_t n = 0;

	for (; mangled[n] && n + 1 < size; n++)
		out[n] = mangled[n];
	if (size)
		out[n] = 0;
	return n;
}
