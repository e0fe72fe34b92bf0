/* SPDX-License-Identifier: MIT */
/* build_impl.h - between build.c, build_item.c and build_events.c. */
#ifndef HODO_PROBE_BUILD_IMPL_H
#define HODO_PROBE_BUILD_IMPL_H

#include "build_file.h"
#include "plan.h"

/* What makes one plan: all lists are parallel to `windows`, but where it says so. */
struct hodo_build {
	const struct hodo_probe_target *target; /* in hand */
	struct hodo_plan_data *data; /* of the target */
	struct hodo_plan_item *items;
	uint32_t nitems;
	struct hodo_plan_function *functions;
	uint32_t nfunctions, nevents;
	struct hodo_probe_built *built;
};

/*
 * A window with so many bytes at each hook, and its slot, which must reach the imports, too. -EAGAIN: it has a system
 * call, and is to be taken back; -EINVAL, -ENOMEM.
 */
int hodo_build_add_item(struct hodo_build *b, const struct hodo_probe_planned *p, uint64_t function, uint8_t flags,
			unsigned hook);

/* How many windows its events have at most, each with a state. */
uint64_t hodo_build_states(const struct hodo_probe_target *t);
/* An event of the target: what cannot have a jump is left out, and says why. 0 or -ENOMEM. */
int hodo_build_add_event(struct hodo_build *b, struct hodo_probe_event *e);
/* Writes the hook of an event's window. Returns how many bytes it has. */
size_t hodo_build_put_event(const struct hodo_plan_item *x, unsigned instruction, uint64_t address, uint8_t *to);

#endif
