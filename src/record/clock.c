/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the recording's clock.
 *
 * The TSC's frequency is the slope of the line through a sample at the recording's start and one at its end,
 * against CLOCK_MONOTONIC: so the error of a sample (some tens of nanoseconds) is the largest error of any
 * time stamp between, however long the recording. The line is tied to real time at its start.
 */
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <base/clock.h>
#include <base/file.h>
#include <hodo/abi_live.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/timex.h>
#include <unistd.h>
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
	const char *asked = getenv(HODO_CLOCK_ENV);
	char source[32];

	if (asked && *asked)
		return strcmp(asked, "tsc") == 0 && hodo_clock_tsc_invariant();
	return hodo_clock_tsc_invariant() &&
	       hodo_file_line(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
			      sizeof(source)) > 0 && strcmp(source, "tsc") == 0;
}

int hodo_clock_choose(enum hodo_clock asked, enum hodo_clock *clock, struct hodo_why *why)
{
	const char *set = getenv(HODO_CLOCK_ENV);

	if (set && *set && strcmp(set, "tsc") != 0 && strcmp(set, "monotonic") != 0)
		return hodo_why(why, -EINVAL, HODO_CLOCK_ENV " is '%.64s': set it to tsc or monotonic", set);
	*clock = asked ? asked : hodo_clock_tsc_usable() ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC;
	return 0;
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
			struct hodo_read_clock *map)
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
	map->offset_ticks = (int64_t)(offset - (__int128)map->offset_s * freq_hz);
}

void hodo_clock_fit(enum hodo_clock kind, const struct hodo_clock_sample *first,
		    const struct hodo_clock_sample *last, struct hodo_read_clock *map)
{
	uint64_t ticks = last->ticks - first->ticks, freq_hz = 1000000000;
	int64_t ns = last->mono_ns - first->mono_ns;

	if (kind == HODO_CLOCK_TSC && ns > 0 && ticks > 0)
		freq_hz = (uint64_t)(((unsigned __int128)ticks * 1000000000u + (uint64_t)ns / 2) / (uint64_t)ns);
	hodo_clock_through(kind, first, freq_hz ? freq_hz : 1000000000, map);
}

/* ------------------------------------------------------------------ wall clock */

#define NS_PER_US 1000
#define PPM_UNITS 65536 /* of timex.freq in a millionth */

/*
 * How far CLOCK_MONOTONIC is ahead of the host's here, time_namespaces(7): all recordings of one boot say when they
 * were made by one clock. The file has the offsets of children's namespace, which is usually this process's, too.
 */
static int64_t namespace_ahead_ns(void)
{
	char own[64] = "", of_children[64] = "", line[128];
	long long seconds, ns;

	if (readlink("/proc/self/ns/time", own, sizeof(own) - 1) < 0 ||
	    readlink("/proc/self/ns/time_for_children", of_children, sizeof(of_children) - 1) < 0 ||
	    strcmp(own, of_children) != 0 ||
	    hodo_file_line(AT_FDCWD, "/proc/self/timens_offsets", line, sizeof(line)) <= 0 ||
	    sscanf(line, "monotonic %lld %lld", &seconds, &ns) != 2)
		return 0;
	return (int64_t)seconds * 1000000000 + ns;
}

void hodo_wall_sample(const struct hodo_clock_sample *sample, struct hodo_wall *wall)
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);

	*wall = (struct hodo_wall){ .known = state >= 0, .mono_ns = sample->mono_ns - namespace_ahead_ns(),
				    .real_ns = sample->real_ns };
	if (!wall->known)
		return;
	wall->synchronised = state != TIME_ERROR && !(t.status & STA_UNSYNC);
	wall->error_ns = (int64_t)t.esterror * NS_PER_US;
	wall->max_error_ns = (int64_t)t.maxerror * NS_PER_US;
	wall->drift_ppb = (int64_t)t.freq * 1000 / PPM_UNITS;
	wall->tai_s = t.tai;
}

void hodo_wall_text(const struct hodo_wall *w, const char *at, struct hodo_text *t)
{
	if (!w->known)
		return;
	hodo_text_printf(t, "/*@wall at=%s mono=%" PRId64 " real=%" PRId64 " synchronised=%d error=%" PRId64
			 " max_error=%" PRId64 " drift=%" PRId64 " tai=%" PRId64 "*/\n",
			 at, w->mono_ns, w->real_ns, w->synchronised, w->error_ns, w->max_error_ns, w->drift_ppb,
			 w->tai_s);
}
