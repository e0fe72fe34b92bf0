/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "condition.h"

static bool head_valid(const struct hodo_condition *c)
{
	if (c->kind < HODO_CONDITION_RATE || c->kind > HODO_CONDITION_EXIT || c->pattern_len < 2 ||
	    c->pattern_len > HODO_CONDITION_PATTERN_MAX || c->filter_len > HODO_FILTER_MAX)
		return false;
	if (c->kind != HODO_CONDITION_RATE)
		return true;
	return c->interval_ticks > 0 && c->interval_ticks <= HODO_CONDITION_TICKS_MAX &&
	       c->burst_ticks <= HODO_CONDITION_TICKS_MAX;
}

/* Whether its only NUL is the last byte. */
static bool pattern_valid(const uint8_t *pattern, uint32_t len)
{
	uint32_t i = 0;

	while (i < len && pattern[i])
		i++;
	return i == len - 1;
}

int hodo_conditions_parse(const uint8_t *at, uint32_t n, uint32_t len, struct hodo_condition_parts *parts)
{
	struct hodo_condition_parts one;
	uint32_t i;

	if (n > HODO_CONDITIONS_MAX)
		return -1;
	for (i = 0; i < n; i++) {
		if (len < sizeof(one.head))
			return -1;
		__builtin_memcpy(&one.head, at, sizeof(one.head));
		at += sizeof(one.head);
		len -= (uint32_t)sizeof(one.head);
		if (!head_valid(&one.head) || one.head.pattern_len > len ||
		    one.head.filter_len > len - one.head.pattern_len || !pattern_valid(at, one.head.pattern_len))
			return -1;
		one.pattern = (const char *)at;
		one.filter = at + one.head.pattern_len;
		if (one.head.filter_len && hodo_filter_verify(one.filter, one.head.filter_len) != 0)
			return -1;
		at += one.head.pattern_len + one.head.filter_len;
		len -= one.head.pattern_len + one.head.filter_len;
		if (parts)
			parts[i] = one;
	}
	return len == 0 ? 0 : -1;
}

/* ------------------------------------------------------------------ binding */

int hodo_binder_filter(const struct hodo_binder *binder, const uint8_t *code, uint32_t len,
		       const struct hodo_filter **filter)
{
	struct hodo_filter *f = binder->work;

	*filter = NULL;
	if (hodo_filter_bind(f, code, len, binder->nfields, binder->types, binder->names, binder->labels) != 0 ||
	    hodo_filter_never(f))
		return HODO_BINDING_NEVER;
	if (hodo_filter_always(f))
		return HODO_BINDING_ALWAYS;
	*filter = binder->keep(f, hodo_filter_size(f));
	return *filter ? HODO_BINDING_BOUND : -1;
}

int hodo_binder_conditions(const struct hodo_binder *binder, const struct hodo_condition_parts *conditions, uint32_t n,
			   struct hodo_bound *bound, uint32_t *count)
{
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct hodo_condition_parts *c = &conditions[i];
		struct hodo_bound *b = &bound[*count];
		int how = HODO_BINDING_ALWAYS;

		if (!binder->matches(c->pattern, binder->event))
			continue;
		*b = (struct hodo_bound){ .condition = &c->head, .index = i };
		if (c->head.filter_len)
			how = hodo_binder_filter(binder, c->filter, c->head.filter_len, &b->filter);
		if (how < 0)
			return -1;
		*count += how != HODO_BINDING_NEVER;
	}
	return 0;
}

/* ------------------------------------------------------------------- looking */

uint32_t hodo_condition_acts(const struct hodo_condition *c, uint64_t n)
{
	uint64_t after = c->after ? c->after : 1;

	/* Snapshots may repeat; every other action is final. */
	return n >= after && (c->kind != HODO_CONDITION_SNAPSHOT || n % after == 0) ? c->kind : 0;
}

bool hodo_condition_within_rate(const struct hodo_condition *c, uint64_t *due, uint64_t now)
{
	uint64_t then = hodo_load(due), base;

	do {
		/* Signed: clocks of two CPUs may differ a little. */
		if ((int64_t)(then - now) > (int64_t)c->burst_ticks)
			return false;
		base = (int64_t)(then - now) > 0 ? then : now;
	} while (!hodo_cas_seq(due, &then, base + c->interval_ticks));
	return true;
}

uint32_t hodo_verdict_wants(uint32_t verdict)
{
	return (verdict & HODO_VERDICT_STOP ? HODO_WANTS_STOP : 0) |
	       (verdict & HODO_VERDICT_EXIT ? HODO_WANTS_EXIT : 0);
}
