/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the recording's clock: which one, and how its ticks become time.
 */
#pragma once

#include <stdbool.h>

#include <base/text.h>
#include <base/why.h>
#include <hodo/abi.h>
#include <read/file/wall.h>

/* One time on three clocks. */
struct hodo_clock_sample {
	uint64_t ticks;
	int64_t mono_ns;
	int64_t real_ns;
};

/*
 * Whether the TSC is invariant, and the kernel trusts it as its own clock source. HODO_CLOCK overrides the kernel:
 * a virtual machine may be configured to distrust a TSC that is reliable.
 */
bool hodo_clock_tsc_usable(void);
/* The clock of a recording for which `asked` was asked, 0 if none was. -EINVAL and why: HODO_CLOCK is no clock. */
int hodo_clock_choose(enum hodo_clock asked, enum hodo_clock *clock, struct hodo_why *why);
/* Only the processor's part of that. */
bool hodo_clock_tsc_invariant(void);

/* Ticks now. */
uint64_t hodo_clock_ticks(enum hodo_clock kind);

/* Takes a sample, the tightest of several tries; takes some microseconds. */
void hodo_clock_sample(enum hodo_clock kind, struct hodo_clock_sample *s);

/*
 * The line through two samples. They should be at least HODO_CLOCK_FIT_NS apart: the shorter the time
 * between, the less exact the frequency.
 */
#define HODO_CLOCK_FIT_NS 2000000
/* The line through one sample, with that frequency. */
void hodo_clock_through(enum hodo_clock kind, const struct hodo_clock_sample *sample, uint64_t freq_hz,
			struct hodo_read_clock *map);
void hodo_clock_fit(enum hodo_clock kind, const struct hodo_clock_sample *first,
		    const struct hodo_clock_sample *last, struct hodo_read_clock *map);

/*
 * How far the host's wall clock can be trusted, as far as the kernel knows: `hodo merge` needs it later to put
 * recordings of several hosts on one timeline.
 */

/* The state of the clock, of which a sample was just taken. */
void hodo_wall_sample(const struct hodo_clock_sample *sample, struct hodo_wall *wall);
/* Appends the metadata line of a sample; at: "begin" or "end". None, if it is not known. */
void hodo_wall_text(const struct hodo_wall *wall, const char *at, struct hodo_text *t);
