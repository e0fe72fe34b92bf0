/* SPDX-License-Identifier: MIT */
/* build_impl.h - the plan of one object, which build_object.c and the other build_….c make. */
#pragma once

#include <base/arena.h>
#include <base/map.h>
#include <base/vec.h>

#include "build_file.h"
#include "whole_functions.h"

/* What is planned for one target. */
struct hodo_probe_piece {
	const struct hodo_probe_target *target; /* while it is made */
	uint64_t bias; /* of all addresses in memory */
	struct hodo_plan_data data;
	struct hodo_plan_item *items; /* by address, once made */
	uint32_t nitems;
	struct hodo_map windows; /* while it is made */
	struct hodo_arena hooks;
	struct hodo_plan_function *functions;
	uint32_t nfunctions;
	struct hodo_plan_function *slotted;
	uint32_t nslotted;
	struct hodo_probe_page *pages; /* of data and slots, by address; no other piece uses them */
	uint32_t npages;
	struct hodo_probe_built built; /* counts */
};

/* ---------------------------------------------------------------------------- build_object.c */

/* Plans the target. Its pages are taken from the space. 0, -EBADMSG, -ENOMEM; -EOPNOTSUPP, with the system call in
 * b->built. Free it in any case. */
int hodo_probe_piece_make(struct hodo_probe_piece *b, const struct hodo_probe_target *t,
			  struct hodo_probe_space *space);
/* Writes all hooks of an instruction; its argument is the item. */
size_t hodo_build_put_hook(void *arg, unsigned instruction, uint64_t address, uint8_t *to, size_t bytes);

/* -------------------------------------------------------------------- build_windows.c */

extern const struct hodo_map hodo_build_no_windows;

/*
 * Adds a window with that many own bytes before its hooked instruction. -EAGAIN: it has a system call, which
 * only HODO_PLAN_ALWAYS may; -EINVAL, -E2BIG, -ENOMEM. On an error, adds none.
 */
int hodo_build_add_item(struct hodo_probe_piece *b, const struct hodo_probe_window *w, uint8_t flags,
			unsigned own_bytes);

/* Where to run something: an instruction of a window, which may already have existed. */
struct hodo_build_place {
	uint32_t item;
	uint8_t instruction;
	bool is_new;    /* the window */
	uint8_t trap;   /* why it uses a breakpoint, and not a jump; else HODO_PROBE_FINE */
	uint8_t reason; /* why it is not possible; else HODO_PROBE_FINE */
};

/* At a function's entry, after its endbr64 (jump: not by a breakpoint), at an exit (by a jump), at an
 * instruction. 0, also if it is not possible, or -ENOMEM. */
int hodo_build_entry(struct hodo_probe_piece *b, const struct hodo_probe_function *f, bool jump,
		     struct hodo_build_place *place);
int hodo_build_exit(struct hodo_probe_piece *b, const struct hodo_probe_exit *exit, struct hodo_build_place *place);
int hodo_build_at(struct hodo_probe_piece *b, uint64_t addr, struct hodo_build_place *place);

/* Adds it after the existing ones. If it is too long, or empty, the place gets that reason, and a new window
 * is removed. 0 or -ENOMEM. */
int hodo_build_add_hook(struct hodo_probe_piece *b, struct hodo_build_place *place, const struct hodo_plan_hook *hook);
/* Removes the windows after the first that many, and the event's hooks in the others; e: NULL: no event. */
void hodo_build_take_back(struct hodo_probe_piece *b, uint32_t items, const struct hodo_probe_event *e);

/* --------------------------------------------------------------------- build_events.c */

/* The most hooks that its events can have, each with a state. */
uint64_t hodo_build_states(const struct hodo_probe_target *t);
/* Adds an event of the target: an impossible one is left out, with the reason. 0 or -ENOMEM. */
int hodo_build_add_event(struct hodo_probe_piece *b, struct hodo_probe_event *e);
/* Writes an event's hook. Returns how many bytes it has. */
size_t hodo_build_put_event(const struct hodo_plan_item *x, const struct hodo_plan_hook *h, uint64_t address,
			    uint8_t *to);

/* ------------------------------------------------------------------- build_landings.c */

/* All those of the target that can have a window. 0 or -ENOMEM. */
int hodo_build_landings(struct hodo_probe_piece *b);
/* Writes the hook. Returns how many bytes it has. */
size_t hodo_build_put_landing(const struct hodo_plan_item *x, const struct hodo_plan_hook *h, uint64_t address,
			      uint8_t *to);

/* --------------------------------------------------------------- build_replacements.c */

/* All of the target, and its start. 0 or -ENOMEM. */
int hodo_build_replacements(struct hodo_probe_piece *b);
/* Writes the hook. Returns how many bytes it has. */
size_t hodo_build_put_replacement(const struct hodo_plan_item *x, struct hodo_plan_hook *h, uint64_t address,
				  uint8_t *to);
