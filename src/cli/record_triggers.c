/* SPDX-License-Identifier: MIT */
/* record_triggers.c - the triggers and rates that hodo record is asked for, and what it tells of them. */
#include "record_triggers.h"

#include <inttypes.h>

#include "cli.h"

#define VERB "record"

int hodo_trigger_options_set(struct hodo_conditions *conditions, enum hodo_trigger_option option, const char *value)
{
	char why[256];

	switch (option) {
	case HODO_TRIGGER_TRIGGER:
		return hodo_conditions_add_trigger(conditions, value, why, sizeof(why)) == 0 ? 0 :
		       hodo_usage(VERB, "--trigger '%.200s': %s", value, why);
	case HODO_TRIGGER_RATE:
		return hodo_conditions_add_rate(conditions, value, why, sizeof(why)) == 0 ? 0 :
		       hodo_usage(VERB, "--rate '%.200s': %s", value, why);
	case HODO_TRIGGER_OPTIONS:
		break;
	}
	return HODO_EXIT_USAGE;
}

void hodo_trigger_options_tell(const struct hodo_conditions *conditions, const struct hodo_session_stats *stats,
			       bool quiet)
{
	for (uint32_t i = 0; i < conditions->n && !quiet; i++) {
		const struct hodo_condition_asked *a = &conditions->asked[i];

		if (a->kind == HODO_CONDITION_RATE)
			continue;
		if (stats->met[i] == 0)
			hodo_error("trigger '%s' was never met", a->text);
		else
			hodo_error("trigger '%s' was met %" PRIu64 " time%s", a->text, stats->met[i],
				   stats->met[i] == 1 ? "" : "s");
	}
	if (stats->limited)
		hodo_error("%" PRIu64 " event%s not recorded: over the rate, as --rate asks for", stats->limited,
			   stats->limited == 1 ? "" : "s");
}
