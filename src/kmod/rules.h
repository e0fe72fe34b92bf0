/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* rules.h - what a recording, or an event's file in the control tree, asks to be looked at. Under hodo_lock. */
#ifndef HODO_KMOD_RULES_H
#define HODO_KMOD_RULES_H

#include "event.h"

/* A recording begins, with no event on. 0 or -EINVAL: its conditions are not as they must be. */
int hodo_rules_prepare(void);
/* The event is off. wanted: it is to be recorded itself. 0; HODO_RULES_NEVER: nothing is to be done for it; negative
 * errno. */
#define HODO_RULES_NEVER 1
int hodo_rules_bind(struct hodo_event *event, bool wanted);
/* The event is off, and no writer inside. */
void hodo_rules_free(struct hodo_event *event);

#endif
