/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "config.h"

#include "condition.h"

/* Whether the len bytes are n NUL-terminated texts. */
static bool texts_valid(const uint8_t *text, uint32_t n, uint32_t len)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < len; i++)
		found += text[i] == 0;
	return found == n && (len == 0 || text[len - 1] == 0);
}

static bool functions_valid(const uint8_t *at, uint32_t len)
{
	struct hodo_functions_config f;

	if (!len)
		return true;
	if (len < sizeof(f))
		return false;
	__builtin_memcpy(&f, at, sizeof(f));
	at += sizeof(f);
	return f.size == sizeof(f) && f.ticks_per_s > 0 &&
	       sizeof(f) + (uint64_t)f.patterns_len + f.loops_len == len &&
	       texts_valid(at, f.patterns, f.patterns_len) && texts_valid(at + f.patterns_len, f.loops, f.loops_len);
}

size_t hodo_config_check(const struct hodo_msg_config *c, size_t len)
{
	uint64_t used = offsetof(struct hodo_msg_config, text);

	if (len < used || c->head.magic != HODO_MSG_MAGIC || c->head.version != HODO_ABI_VERSION ||
	    c->head.type != HODO_MSG_CONFIG)
		return 0;
	used += (uint64_t)c->patterns_len + c->filter_len + c->functions_len + c->conditions_len + c->context_len;
	return used <= len && used <= sizeof(*c) && c->mode <= HODO_MODE_OVERWRITE &&
			       (c->clock == HODO_CLOCK_TSC || c->clock == HODO_CLOCK_MONOTONIC) &&
			       texts_valid(c->text, c->patterns, c->patterns_len) &&
			       (!c->filter_len || hodo_filter_verify(hodo_config_filter(c), c->filter_len) == 0) &&
			       functions_valid(hodo_config_functions(c), c->functions_len) &&
			       hodo_conditions_parse(hodo_config_conditions(c), c->conditions, c->conditions_len,
						     NULL) == 0 ?
		       (size_t)used : 0;
}

bool hodo_config_wants(const struct hodo_msg_config *c, bool (*matches)(const char *pattern, const void *event),
		       const void *event)
{
	const char *p = (const char *)c->text;
	bool included = false, any = false;

	for (uint32_t i = 0; i < c->patterns; i++) {
		if (*p == '!') {
			if (matches(p + 1, event))
				return false;
		} else {
			any = true;
			included = included || matches(p, event);
		}
		while (*p++)
			;
	}
	return included || !any;
}
