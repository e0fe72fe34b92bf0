/* SPDX-License-Identifier: MIT */
/* clock.c - ticks of a recording's clock to ns since the epoch, exactly. */
#include "clock.h"

/* The time in ns, and in *rest the remainder of rounding down: ns * freq + rest = ticks * 1e9. */
static __int128 convert(const struct hodo_read_clock *clock, uint64_t ticks, uint64_t *rest)
{
	/* |sum| < 2^65, so that the product stays below 2^95. */
	__int128 product = ((__int128)ticks + clock->offset_ticks) * (__int128)NS_PER_S;
	__int128 freq = (__int128)clock->freq_hz;
	__int128 ns = product / freq;

	if (ns * freq > product)
		ns--; /* C rounds towards zero */
	*rest = (uint64_t)(product - ns * freq);
	return ns + (__int128)clock->offset_s * (__int128)NS_PER_S;
}

/* INT64_MAX itself means "no limit". */
static int64_t clamp(__int128 ns)
{
	if (ns >= INT64_MAX)
		return INT64_MAX - 1;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

int64_t hodo_read_clock_ns(const struct hodo_read_clock *clock, uint64_t ticks)
{
	uint64_t rest;

	return clamp(convert(clock, ticks, &rest));
}

void hodo_read_clock_near_set(struct hodo_clock_near *near, const struct hodo_read_clock *clock,
			      uint64_t ticks)
{
	__int128 ns = convert(clock, ticks, &near->rest);
	uint64_t span;

	/* delta * 1e9 + rest must fit in 64 bits, and rest < freq. */
	span = (UINT64_MAX - clock->freq_hz) / NS_PER_S;
	near->ticks = ticks;
	near->ns = clamp(ns);
	/* Near the ends of the range, or if span would be centuries, each tick is converted separately. */
	if (clock->freq_hz < NS_PER_S / 1000 || near->ns > INT64_MAX / 2 || near->ns < INT64_MIN / 2)
		span = 0;
	near->span = span;
}
