/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the recording's clock.
 *
 * The TSC's frequency is the slope of the line through a sample at the recording's start and one at its end,
 * against CLOCK_MONOTONIC: so the error of a sample (some tens of nanoseconds) is the largest error of any
 * time stamp between, however long the recording. The line is tied to real time at its start.
 */
#include "clock.h"

#include <fcntl.h>
#include <string.h>

#include <base/clock.h>
#include <base/file.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#define HAVE_TSC 1
#endif

#define SAMPLE_TRIES 64

bool hodo_clock_tsc_invariant(void)
{
#ifdef HAVE_TSC
	unsigned int a, b, c, d;

	if (!__get_cpuid(0x80000000u, &a, &b, &c, &d) || a < 0x80000007u)
		return false;
	__cpuid(0x80000007u, a, b, c, d);
	return (d & (1u << 8)) != 0;
#else
	return false;
#endif
}

bool hodo_clock_tsc_usable(void)
{
	char source[32];

	return hodo_clock_tsc_invariant() &&
	       hodo_file_line(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
			      sizeof(source)) > 0 && strcmp(source, "tsc") == 0;
}

uint64_t hodo_clock_ticks(enum hodo_clock kind)
{
#ifdef HAVE_TSC
	if (kind == HODO_CLOCK_TSC) {
		_mm_lfence();
		return __rdtsc();
	}
#endif
	return (uint64_t)hodo_clock_ns(CLOCK_MONOTONIC);
}

/* One moment on two clocks: the tightest of several tries. */
static void sample_two(enum hodo_clock kind, clockid_t other, uint64_t *ticks, int64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < SAMPLE_TRIES; i++) {
		uint64_t before = hodo_clock_ticks(kind);
		int64_t between = hodo_clock_ns(other);
		uint64_t after = hodo_clock_ticks(kind);

		if (after - before < best) {
			best = after - before;
			*ticks = before + best / 2;
			*ns = between;
		}
	}
}

void hodo_clock_sample(enum hodo_clock kind, struct hodo_clock_sample *s)
{
	uint64_t mono = 0;

	memset(s, 0, sizeof(*s));
	sample_two(kind, CLOCK_MONOTONIC, &s->ticks, &s->mono_ns);
	if (kind == HODO_CLOCK_MONOTONIC)
		s->ticks = (uint64_t)s->mono_ns;
	sample_two(HODO_CLOCK_MONOTONIC, CLOCK_REALTIME, &mono, &s->real_ns);
	s->real_ns -= (int64_t)mono - s->mono_ns; /* moved to the moment of the other pair */
}

void hodo_clock_through(enum hodo_clock kind, const struct hodo_clock_sample *sample, uint64_t freq_hz,
			struct hodo_clock_map *map)
{
	__int128 offset;

	/* A multiple of 4, like times in records, so that units of 4 ticks give every reader the same
	 * nanoseconds. At 1 GHz the error is at most 2 ns per second. */
	freq_hz = freq_hz > 4 ? (freq_hz + 2) & ~3ull : 4;
	offset = ((__int128)sample->real_ns * freq_hz / 1000000000 - sample->ticks) & ~(__int128)3;
	map->kind = kind;
	map->freq_hz = freq_hz;
	map->offset_s = (int64_t)(offset / freq_hz);
	if (offset < 0 && offset % freq_hz != 0)
		map->offset_s--;
	map->offset = (uint64_t)(offset - (__int128)map->offset_s * freq_hz);
}

void hodo_clock_fit(enum hodo_clock kind, const struct hodo_clock_sample *first,
		    const struct hodo_clock_sample *last, struct hodo_clock_map *map)
{
	uint64_t ticks = last->ticks - first->ticks, freq_hz = 1000000000;
	int64_t ns = last->mono_ns - first->mono_ns;

	if (kind == HODO_CLOCK_TSC && ns > 0 && ticks > 0)
		freq_hz = (uint64_t)(((unsigned __int128)ticks * 1000000000u + (uint64_t)ns / 2) / (uint64_t)ns);
	hodo_clock_through(kind, first, freq_hz ? freq_hz : 1000000000, map);
}
