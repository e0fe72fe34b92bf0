/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sites.h - events of instrumented modules: the places of each, and the probes on it. All under hodo_lock. */
#pragma once

#include <kmod/event.h>

#include <hodo/trace.h>
#include <linux/module.h>

struct hodo_site_event {
	struct hodo_event event;
	struct list_head list;             /* of all of them */
	struct hodo_kernel_state *states;  /* its places, at least one; linked by next */
	bool on;                           /* it is recorded */
	const struct hodo_probes *probes;  /* NULL: none; see probes.c */
	char object[MODULE_NAME_LEN];      /* the module of this descriptor; another may have the event by now */
	struct hodo_field fields[HODO_FIELDS_MAX];
	char text[];                       /* all names, format, file, function */
};

extern struct list_head hodo_site_events;

/* Updates the event's places after a change. Writers may still be inside. */
void hodo_site_event_update(struct hodo_site_event *event);

/* probes.c */
int hodo_probes_init(void);
void hodo_probes_exit(void);
const struct hodo_probes *hodo_probe_enter(struct hodo_kernel_state *state);
void hodo_probe_leave(void);
int hodo_probe_register(struct hodo_kernel_state *state, void (*func)(void), void *data);
int hodo_probe_unregister(struct hodo_kernel_state *state, void (*func)(void), void *data);
/* The event has no more places: probes left behind are logged and freed. Nobody is inside. */
void hodo_probes_drop(struct hodo_site_event *event);
