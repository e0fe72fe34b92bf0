/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tracepoints.h - events of the kernel's own tracepoints, as events/stages.h makes them, and sets of them. */
#pragma once

#include "event.h"

#include <linux/notifier.h>
#include <linux/stdarg.h>

struct tracepoint;

struct hodo_tracepoint {
	struct hodo_event event; /* absent as long as nobody has the tracepoint */
	void *probe;		 /* of the tracepoint's own type; its data is the event */
	void (*describe)(struct hodo_event *event); /* fills in fields and nfields */
	/* Under hodo_lock. */
	struct tracepoint *tp; /* NULL: absent */
	bool registered;       /* the probe, with it */
};

/* Those of one module: hodo.ko itself, or one whose events need symbols of a further module, or which are of a header
 * of one's own. */
struct hodo_tracepoint_set {
	struct hodo_event *const *events; /* members of struct hodo_tracepoint, sorted by name as strcmp() does */
	size_t n;
	const char *release; /* UTS_RELEASE of the kernel that the probes were compiled for */
	bool own_header; /* theirs is not the kernel's: they are for modules that were not built with it */
	struct notifier_block modules; /* notified of modules with tracepoints */
};

extern struct hodo_tracepoint_set hodo_tracepoint_table; /* generated: hodo.ko's */

/* Makes the events known, and binds those whose tracepoints are there. When modules come and go, so do theirs.
 * 0 or negative errno; -ENOEXEC: the
 * probes are another kernel's. */
int hodo_tracepoint_set_add(struct hodo_tracepoint_set *set);
/* No probe is inside afterwards. */
void hodo_tracepoint_set_remove(struct hodo_tracepoint_set *set);

/* For fields made of a format and its arguments: bytes with the NUL; and the text, cut and filled up to size. */
size_t hodo_vstring_size(const char *format, va_list *args);
void hodo_vstring_copy(char *to, size_t size, const char *format, va_list *args);
