/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_impl.h - what verification (filter.c) and the machine (filter_run.c)
 * share and nobody else needs.
 */
#ifndef HODO_CORE_FILTER_IMPL_H
#define HODO_CORE_FILTER_IMPL_H

#include "filter.h"

#define HODO_FILTER_USES_FLOAT 1u /* hodo_filter.flags */

/* The 16-bit operand at p, which need not be aligned. */
static inline uint16_t hodo_filter_u16(const uint8_t *p)
{
	uint16_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

#endif
