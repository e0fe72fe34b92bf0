/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* condition.h - the conditions of a recording (struct hodo_condition) as they come in CONFIG. */
#ifndef HODO_CORE_CONDITION_H
#define HODO_CORE_CONDITION_H

#include <hodo/abi.h>
#include <stdbool.h>

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

/* Whether a trigger that is met for the n-th time (from 1 on) is to act: its kind, or 0. Signal safe. */
uint32_t hodo_condition_acts(const struct hodo_condition *c, uint64_t n);

/*
 * Whether an event at `now` (ticks) is within the rate of c, by the generic cell rate algorithm (ITU-T I.371): due is
 * when the next one would come if they came evenly, shared by all who emit that event. Lock-free, signal safe.
 */
bool hodo_condition_within_rate(const struct hodo_condition *c, uint64_t *due, uint64_t now);

#endif
