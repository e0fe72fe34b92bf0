/* SPDX-License-Identifier: MIT */
/* traps.c - see traps.h. */
#include "traps.h"

#include <inttypes.h>

#include <cli/cli.h>

void hodo_record_traps_look(const struct hodo_probe_target *targets, uint32_t n, bool *said)
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
		hodo_warning("%" PRIu32 " of %" PRIu32 " places of probes %s, which costs the program about 2 us each "
			     "time: %s", traps, all, traps == 1 ? "is a breakpoint" : "are breakpoints",
			     hodo_probe_reason_text(first->trap));
	*said |= first != NULL;
}

void hodo_record_missed_look(const struct hodo_probe_built *built, bool *said)
{
	char missed[32], exits[32];

	if (built->missed && !*said)
		hodo_error("%s of %s exits of functions have no room for a jump, and are not seen: calls that end there are "
			   "shown as left, with times that are too long, and later calls as nested in them", hodo_grouped(built->missed, missed),
			   hodo_grouped(built->exits, exits));
	*said |= built->missed != 0;
}
