/* SPDX-License-Identifier: MIT */
/* build_impl.h - between build.c and the other build_….c that make windows. */
#ifndef HODO_PROBE_BUILD_IMPL_H
#define HODO_PROBE_BUILD_IMPL_H

#include <base/arena.h>
#include <base/map.h>
#include <base/vec.h>

#include "build_file.h"
#include "plan.h"

/* What makes one plan. */
struct hodo_build {
	const struct hodo_probe_target *target; /* in hand */
	struct hodo_plan_data *data; /* of the target */
	struct hodo_plan_item *items;
	uint32_t nitems;
	struct hodo_map windows; /* of the target */
	struct hodo_arena hooks;
	struct hodo_plan_function *functions;
	uint32_t nfunctions;
	struct hodo_probe_built *built;
};

/* -------------------------------------------------------------------- build_windows.c */

extern const struct hodo_map hodo_build_no_windows;

/*
 * A window with so many bytes of its own in front of its hooked instruction. -EAGAIN: it has a system call, which only
 * HODO_PLAN_ALWAYS may; -EINVAL, -E2BIG, -ENOMEM. After an error there is none.
 */
int hodo_build_add_item(struct hodo_build *b, const struct hodo_probe_window *w, uint8_t flags, unsigned own_bytes);

/* Where something is to be run: an instruction of a window, which may have been there. */
struct hodo_build_place {
	uint32_t item;
	uint8_t instruction;
	bool is_new;    /* the window */
	uint8_t trap;   /* why it is by a breakpoint, and not by a jump; else HODO_PROBE_FINE */
	uint8_t reason; /* why there can be none; else HODO_PROBE_FINE */
};

/* At a function's entry, behind its endbr64 (jump: not by a breakpoint), at an exit (by a jump), at an instruction. 0,
 * also where there can be none, or -ENOMEM. */
int hodo_build_entry(struct hodo_build *b, const struct hodo_probe_function *f, bool jump,
		     struct hodo_build_place *place);
int hodo_build_exit(struct hodo_build *b, const struct hodo_probe_exit *exit, struct hodo_build_place *place);
int hodo_build_at(struct hodo_build *b, uint64_t addr, struct hodo_build_place *place);

/* Behind those that are there already. Where it is too long, or has no bytes, the place has that as its reason, and the
 * window goes if it was new. 0 or -ENOMEM. */
int hodo_build_add_hook(struct hodo_build *b, struct hodo_build_place *place, const struct hodo_plan_hook *hook);
/* The windows behind the first so many go, and the event's hooks in the others; e: NULL: of none. */
void hodo_build_take_back(struct hodo_build *b, uint32_t items, const struct hodo_probe_event *e);

/* --------------------------------------------------------------------- build_events.c */

/* How many hooks its events have at most, each with a state. */
uint64_t hodo_build_states(const struct hodo_probe_target *t);
/* An event of the target: what cannot be is left out, and says why. 0 or -ENOMEM. */
int hodo_build_add_event(struct hodo_build *b, struct hodo_probe_event *e);
/* Writes an event's hook. Returns how many bytes it has. */
size_t hodo_build_put_event(const struct hodo_plan_item *x, const struct hodo_plan_hook *h, uint64_t address,
			    uint8_t *to);

/* ------------------------------------------------------------------- build_landings.c */

/* All of the target: those that can have a window. 0 or -ENOMEM. */
int hodo_build_landings(struct hodo_build *b);
/* Writes the hook. Returns how many bytes it has. */
size_t hodo_build_put_landing(const struct hodo_plan_item *x, const struct hodo_plan_hook *h, uint64_t address,
			      uint8_t *to);

/* --------------------------------------------------------------- build_replacements.c */

/* All of the target, and its start. 0 or -ENOMEM. */
int hodo_build_replacements(struct hodo_build *b);
/* Writes the hook. Returns how many bytes it has. */
size_t hodo_build_put_replacement(const struct hodo_plan_item *x, struct hodo_plan_hook *h, uint64_t address,
				  uint8_t *to);

#endif
