/* SPDX-License-Identifier: MIT */
/* clock.h - ticks of a recording's clock as ns since the epoch. */
#pragma once

#include <hodo/read.h>

#define NS_PER_S 1000000000ull

/* Ticks to ns since the epoch, rounded down and clamped to 64 bits. freq_hz > 0. */
int64_t hodo_read_clock_ns(const struct hodo_read_clock *clock, uint64_t ticks);

/* To convert ticks near a point already converted, in 64 bits. */
struct hodo_clock_near {
	uint64_t ticks; /* the point */
	int64_t ns;
	uint64_t rest; /* (the rounding error) * freq / 1 ns */
	uint64_t span; /* up to there, the arithmetic below fits */
};
void hodo_read_clock_near_set(struct hodo_clock_near *near, const struct hodo_read_clock *clock,
			      uint64_t ticks);

static inline int64_t hodo_read_clock_near_ns(struct hodo_clock_near *near,
					      const struct hodo_read_clock *clock, uint64_t ticks)
{
	uint64_t delta = ticks - near->ticks;

	if (__builtin_expect(delta > near->span, 0)) {
		hodo_read_clock_near_set(near, clock, ticks);
		return near->ns;
	}
	if (clock->freq_hz == NS_PER_S)
		return near->ns + (int64_t)delta;
	return near->ns + (int64_t)((delta * NS_PER_S + near->rest) / clock->freq_hz);
}
