/* SPDX-License-Identifier: MIT */
/* record_triggers.h - the triggers and rates that hodo record is asked for, and what it tells of them. */
#ifndef HODO_CLI_RECORD_TRIGGERS_H
#define HODO_CLI_RECORD_TRIGGERS_H

#include <record/conditions.h>
#include <record/record.h>

enum hodo_trigger_option { HODO_TRIGGER_TRIGGER, HODO_TRIGGER_RATE, HODO_TRIGGER_OPTIONS };

/* Each returns 0, or the exit status having said what is wrong. */
int hodo_trigger_options_set(struct hodo_conditions *conditions, enum hodo_trigger_option option, const char *value);
/* At the end: how often each trigger was met, and what was over its rate. */
void hodo_trigger_options_tell(const struct hodo_conditions *conditions, const struct hodo_session_stats *stats,
			       bool quiet);

#endif
