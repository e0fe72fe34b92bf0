/* SPDX-License-Identifier: MIT */
/* events.h - what the text of a probe means in a file, as events of a target (build.h). */
#ifndef HODO_PROBE_EVENTS_H
#define HODO_PROBE_EVENTS_H

#include "build.h"
#include "resolve.h"

#define HODO_PROBE_PROVIDER "probe"

/*
 * Adds an event for each place of the probe in the file, which is the target's; probe: its number, from 1. All places
 * with equal fields are one event to a recording. 0; -EINVAL: the file has no such place or value, in one line in
 * error; -ENOMEM. hodo_probe_events_free() frees what was added in any case.
 */
int hodo_probe_events_add(struct hodo_probe_target *t, const struct hodo_probe_image *i, const struct hodo_spec *s,
			  uint32_t probe, char error[HODO_SPEC_ERROR]);
void hodo_probe_events_free(struct hodo_probe_target *t);
void hodo_probe_event_free(struct hodo_probe_event *e);
/* An event's name that is a function's, shown as C++ has it. To be freed; NULL: no memory. */
char *hodo_probe_events_name(const char *symbol);

/*
 * The name that events of a probe have, as a pattern: of a function its own name, with what follows it in the text, of
 * a line FILE:LINE, of an address 0xADDRESS. To be freed; NULL: no memory.
 */
char *hodo_probe_events_pattern(const struct hodo_spec *s);

#endif
