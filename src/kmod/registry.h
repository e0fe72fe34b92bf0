/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* registry.h - what a recording does with all events. Under hodo_lock. */
#ifndef HODO_KMOD_REGISTRY_H
#define HODO_KMOD_REGISTRY_H

#include "event.h"

/* A recording begins: nothing is in its catalogue yet. */
void hodo_registry_begin(void);
/* Switches on what the recording wants. */
void hodo_registry_on(void);
/* Switches all off, and waits until no writer is inside. */
void hodo_registry_off(void);

/* Whether the recording's pattern names the event, or the span that it begins or ends. */
bool hodo_event_matches(const char *pattern, const struct hodo_event *event);

#endif
