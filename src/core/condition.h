/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* condition.h - the conditions of a recording (struct hodo_condition) as they come in CONFIG. */
#ifndef HODO_CORE_CONDITION_H
#define HODO_CORE_CONDITION_H

#include <hodo/abi.h>

#define HODO_CONDITION_PATTERN_MAX (2u * HODO_NAME_MAX + 16u) /* bytes, the NUL included */
#define HODO_CONDITION_TICKS_MAX (1ull << 62)

/* One of them, taken apart. */
struct hodo_condition_parts {
	struct hodo_condition head;
	const char *pattern; /* NUL-terminated */
	const uint8_t *filter; /* head.filter_len bytes, verified */
};

/*
 * Takes n conditions apart, which must fill the len bytes at `at` exactly; these may come from
 * anywhere. parts: room for HODO_CONDITIONS_MAX, or NULL. 0, or -1: they are not as they must be. Signal safe.
 */
int hodo_conditions_parse(const uint8_t *at, uint32_t n, uint32_t len, struct hodo_condition_parts *parts);

#endif
