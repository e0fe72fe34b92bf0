/* SPDX-License-Identifier: MIT */
/* events.h - the meaning of a probe's text in a file, as events of a target (build.h). */
#pragma once

#include <base/why.h>
#include <probe/patch/build.h>
#include "resolve.h"

#define HODO_PROBE_PROVIDER "probe"

/*
 * Adds an event for each place of the probe in the target's file; probe: its number, from 1. To a recording,
 * all places with equal fields are one event. 0; -EINVAL: the file has no such place or value, with a line in
 * why; -ENOMEM. In any case, hodo_probe_events_free() frees what was added.
 */
int hodo_probe_events_add(struct hodo_probe_target *t, const struct hodo_probe_image *i, const struct hodo_spec *s,
			  uint32_t probe, struct hodo_why *why);
void hodo_probe_events_free(struct hodo_probe_target *t);
void hodo_probe_event_free(struct hodo_probe_event *e);
/* A function's C++ name as an event's name. Free it; NULL: no memory. */
char *hodo_probe_events_name(const char *symbol);

/*
 * The names of a probe's events, as a pattern: a function's name with what follows it in the text, FILE:LINE,
 * or 0xADDRESS. Free it; NULL: no memory.
 */
char *hodo_probe_events_pattern(const struct hodo_spec *s);
