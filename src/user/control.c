/* SPDX-License-Identifier: MIT */
/* control.c - <hodo/control.h>. */
#include <hodo/control.h>
#include "sys.h"
#include "user.h"

static int set(const char *pattern, bool on)
{
	uint64_t mask;
	int n = 0, error;

	if (!pattern || !*pattern)
		return -EINVAL;
	mask = hodo_control_lock();
	if (on && !hodo_recording.on) {
		hodo_control_unlock(mask);
		return -ENOTCONN;
	}
	for (uint32_t i = 1; i <= hodo_nevents; i++) {
		struct hodo_event *event = &hodo_events[i];

		if (!hodo_registry_matches(pattern, event))
			continue;
		n++;
		event->disabled = !on;
		if (on)
			event->matched = true;
		hodo_registry_publish(event); /* when disabling: the on word first, then the code */
	}
	error = hodo_patch_sites();
	if (!on)
		hodo_patch_quiesce();
	hodo_control_unlock(mask);
	return error ? error : n;
}

HODO_PUBLIC int hodo_enable(const char *pattern)
{
	return set(pattern, true);
}

HODO_PUBLIC int hodo_disable(const char *pattern)
{
	return set(pattern, false);
}
