/* SPDX-License-Identifier: MIT */
/* report.c - messages of a planner to the user. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <base/quantity.h>

void hodo_plan_say(const struct hodo_reporter *r, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	r->report(r->arg, line);
}

void hodo_plan_report_traps(const struct hodo_probe_target *targets, uint32_t n, bool *said,
			    const struct hodo_reporter *r)
{
	const struct hodo_probe_event *first = NULL;
	uint32_t all = 0, traps = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < targets[i].nevents; k++) {
			const struct hodo_probe_event *e = &targets[i].events[k];

			all += e->reason == HODO_PROBE_FINE;
			if (e->reason != HODO_PROBE_FINE || e->trap == HODO_PROBE_FINE)
				continue;
			traps++;
			first = first ? first : e;
		}
	}
	if (first && !*said)
		hodo_plan_warn(r, "%" PRIu32 " of %" PRIu32 " places of probes %s, which costs the program about 2 us each "
			       "time: %s", traps, all, traps == 1 ? "is a breakpoint" : "are breakpoints",
			       hodo_probe_reason_text(first->trap));
	*said |= first != NULL;
}

void hodo_plan_report_missed(const struct hodo_probe_built *built, bool *said, const struct hodo_reporter *r)
{
	char missed[32], exits[32];

	if (built->missed && !*said)
		hodo_plan_say(r, "%s of %s exits of functions have no room for a jump, and are not seen: calls that end "
			      "there are shown as left, with times that are too long, and later calls as nested in them",
			      hodo_grouped(built->missed, missed), hodo_grouped(built->exits, exits));
	*said |= built->missed != 0;
}
