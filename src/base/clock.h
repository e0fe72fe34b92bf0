/* SPDX-License-Identifier: MIT */
/* clock.h - the time for waits and limits. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t hodo_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void hodo_sleep_ns(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	if (ns > 0)
		nanosleep(&t, NULL);
}

static inline int64_t hodo_now_ns(void)
{
	return hodo_clock_ns(CLOCK_MONOTONIC);
}
