/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* config.h - what a recorder wants of a recording, as it is sent to libhodo and hodo.ko: struct hodo_msg_config. */
#pragma once

#include <hodo/abi.h>
#include <stdbool.h>

/* The parts that follow its patterns, one after the other; unaligned. */
static inline const uint8_t *hodo_config_filter(const struct hodo_msg_config *c) { return c->text + c->patterns_len; }
static inline const uint8_t *hodo_config_functions(const struct hodo_msg_config *c)
{
	return hodo_config_filter(c) + c->filter_len;
}
static inline const uint8_t *hodo_config_conditions(const struct hodo_msg_config *c)
{
	return hodo_config_functions(c) + c->functions_len;
}
static inline const uint8_t *hodo_config_context(const struct hodo_msg_config *c)
{
	return hodo_config_conditions(c) + c->conditions_len;
}

/* How many of the len bytes, which may come from anywhere, a valid config uses; 0: it is not valid. The
 * caller checks the context, and whether the clock and the sizes are available. */
size_t hodo_config_check(const struct hodo_msg_config *c, size_t len);

/* Whether a pattern includes the event, or no pattern includes anything, and no "!pattern" excludes it. */
bool hodo_config_wants(const struct hodo_msg_config *c, bool (*matches)(const char *pattern, const void *event),
		       const void *event);
