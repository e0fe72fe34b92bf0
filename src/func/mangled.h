/* SPDX-License-Identifier: MIT */
/* mangled.h - short names of C++ functions. */
#ifndef HODO_CORE_MANGLED_H
#define HODO_CORE_MANGLED_H

#include <stddef.h>

/*
 * "ns::cls::f" of an Itanium-mangled name (Itanium C++ ABI, chapter 5.1), without template arguments,
 * parameters and ABI tags; a name that is not mangled, or not understood, as it is. Hostile input. Returns the
 * length; out is cut to size and terminated.
 */
size_t hodo_mangled_name(const char *mangled, char *out, size_t size);

#endif
