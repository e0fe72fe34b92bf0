/* SPDX-License-Identifier: MIT */
/*
 * report.h - messages of a planner to the user, and what code that was not prepared does not allow: some probes are
 * breakpoints, which cost more, and some exits of functions are not seen.
 */
#pragma once

#include <base/why.h>
#include <probe/patch/build.h>

/* One line, whose bytes are as they are in names of files: the reporter makes them printable. */
void hodo_plan_say(const struct hodo_reporter *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define hodo_plan_warn(r, ...) hodo_plan_say(r, "warning: " __VA_ARGS__)
/* said: a bool, whether it was, in and out. */
#define hodo_plan_warn_once(said, r, ...)             \
	({                                            \
		if (!*(said))                         \
			hodo_plan_warn(r, __VA_ARGS__); \
		*(said) = true;                       \
	})

/* After a plan for a process. said: whether it was reported, in and out. */
void hodo_plan_report_traps(const struct hodo_probe_target *targets, uint32_t n, bool *said,
			    const struct hodo_reporter *r);
void hodo_plan_report_missed(const struct hodo_probe_built *built, bool *said, const struct hodo_reporter *r);
