/* SPDX-License-Identifier: MIT */
/* build_file.h - a plan's parts, once every slot has its place, and the file that is made of them. */
#ifndef HODO_PROBE_BUILD_FILE_H
#define HODO_PROBE_BUILD_FILE_H

#include <hodo/abi_plan.h>

#include "build.h"
#include "recipe.h"
#include "space.h"

#define HODO_PLAN_POOL_BYTES (8u * HODO_PLAN_IMPORTS)

/* Pages of data near an object: the imports, then a struct hodo_plan_state for each hook of its events, and for each
 * replacement the address that its slot jumps to. */
struct hodo_plan_data {
	uint64_t addr;
	uint32_t pages;
	uint32_t states; /* so far */
};

enum hodo_plan_hook_kind {
	HODO_HOOK_ENTRY, HODO_HOOK_EXIT, HODO_HOOK_EVENT, HODO_HOOK_LANDING, HODO_HOOK_REPLACE, HODO_HOOK_START
};

/* What is run in front of an instruction of a window. */
struct hodo_plan_hook {
	struct hodo_plan_hook *next; /* of the window */
	struct hodo_probe_event *event; /* HODO_HOOK_EVENT */
	const struct hodo_probe_replacement *replacement; /* HODO_HOOK_REPLACE; … */
	uint64_t first;      /* … where it can be called that is replaced, or the slot's begin, once that is written */
	uint64_t state;      /* of the event; all of its hooks have one. Of a replacement where its address stands; of a
			      * landing what r11 is to be (HODO_IMPORT_LANDED) */
	uint32_t stack;      /* bytes that its code has on the stack */
	uint16_t bytes;
	uint8_t kind;        /* enum hodo_plan_hook_kind */
	uint8_t part;        /* enum hodo_probe_event_part */
	uint8_t instruction;
	bool tail;           /* it is at a jump to another function */
};

/* A window, and all about it. */
struct hodo_plan_item {
	struct hodo_probe_window window;
	struct hodo_probe_recipe recipe;
	uint64_t function;    /* in memory, whose calls it sees; 0: none's */
	uint64_t pool, pool_end, slot, bias;
	struct hodo_plan_hook *hooks;
	uint16_t own_bytes;   /* of what runs in the place of its instruction */
	uint8_t entry, exits; /* as struct hodo_probe_planned has them */
	uint8_t flags;        /* HODO_PLAN_* */
};

struct hodo_plan_parts {
	struct hodo_plan_item *items; /* by address */
	uint32_t nitems;
	const struct hodo_plan_function *functions;
	uint32_t nfunctions;
	const struct hodo_plan_data *data;
	unsigned ndata;
	hodo_probe_hook_fn hook; /* its argument is the item */
};

/* The sealed file, or negative errno. space: whose pages the slots are in. */
int hodo_plan_write(const struct hodo_plan_parts *parts, const struct hodo_probe_space *space);

#endif
