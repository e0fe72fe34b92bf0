/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* state.c - the module's lock, the recording's state, and which events it wants; needs no other file. */
#include "state.h"

#include <core/glob.h>
#include <core/kind.h>

#include <linux/kernel.h>
#include <linux/string.h>

DEFINE_MUTEX(hodo_lock);
struct hodo_recording hodo_recording;

bool hodo_event_matches(const char *pattern, const void *of)
{
	const struct hodo_event *event = of;
	char name[2 * HODO_NAME_MAX + 2];
	size_t len = scnprintf(name, sizeof(name), "%s:%s", event->provider, event->name), n = strlen(pattern);
	size_t suffix = strlen(hodo_kind_suffix(event->kind));

	return hodo_glob(pattern, n, name, len) ||
	       (suffix && len > suffix && hodo_glob(pattern, n, name, len - suffix));
}

bool hodo_recording_wants(const struct hodo_event *event)
{
	const struct hodo_recording *r = &hodo_recording;

	if (r->by == HODO_RECORDED_BY_TREE)
		return event->enabled;
	if (event->kind == HODO_KIND_FUNCTION)
		return hodo_recording_functions() != NULL;
	return hodo_config_wants(r->asked, hodo_event_matches, event);
}
