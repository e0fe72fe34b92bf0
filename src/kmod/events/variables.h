/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * variables.h - fields that vary, in a stage that knows them by the type of their elements alone,
 * HODO_VARIABLE(type, name), or not at all: HODO_NO_VARIABLES.
 */
#ifdef HODO_NO_VARIABLES
#undef HODO_NO_VARIABLES
#define __dynamic_array(t, i, n)
#else
#define __dynamic_array(t, i, n) HODO_VARIABLE(t, i)
#endif
#define __string(i, s) __dynamic_array(char, i, 0)
#define __string_len(i, s, n) __dynamic_array(char, i, 0)
#define __vstring(i, fmt, va) __dynamic_array(char, i, 0)
#define __bitmask(i, bits) __dynamic_array(u64, i, 0)
#define __cpumask(i) __dynamic_array(u64, i, 0)
#define __sockaddr(i, n) __dynamic_array(u8, i, 0)
