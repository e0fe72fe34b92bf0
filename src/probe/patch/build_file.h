/* SPDX-License-Identifier: MIT */
/* build_file.h - a plan's parts, once every slot has its place, and the file made of them. */
#pragma once

#include <hodo/abi_plan.h>

#include "build.h"
#include "recipe.h"
#include "space.h"

#define HODO_PLAN_POOL_BYTES (8u * HODO_PLAN_IMPORTS)

/* Data pages near an object: the imports, then a struct hodo_plan_state for each hook of its events, and for
 * each replacement its slot's target address. */
struct hodo_plan_data {
	uint64_t addr;
	uint32_t pages;
	uint32_t states; /* so far */
};

enum hodo_plan_hook_kind {
	HODO_HOOK_ENTRY, HODO_HOOK_EXIT, HODO_HOOK_EVENT, HODO_HOOK_LANDING, HODO_HOOK_REPLACE, HODO_HOOK_START
};

/* Code that runs before an instruction of a window. */
struct hodo_plan_hook {
	struct hodo_plan_hook *next; /* of the window */
	struct hodo_probe_event *event; /* HODO_HOOK_EVENT */
	const struct hodo_probe_replacement *replacement; /* HODO_HOOK_REPLACE */
	uint64_t first;      /* of a replacement: where to call the original; once written, where the slot begins */
	uint64_t state;      /* of the event; all of its hooks have one. Of a replacement: where its address stands; of
			      * a landing: what r11 is to be (HODO_IMPORT_LANDED) */
	uint32_t stack;      /* bytes of stack that its code uses */
	uint16_t bytes;
	uint8_t kind;        /* enum hodo_plan_hook_kind */
	uint8_t part;        /* enum hodo_probe_event_part */
	uint8_t instruction;
	bool tail;           /* it is at a jump to another function */
};

/* A window with everything about it. */
struct hodo_plan_item {
	struct hodo_probe_window window;
	struct hodo_probe_recipe recipe;
	uint64_t function;    /* in memory: the function whose calls it sees; 0: none */
	uint64_t pool, pool_end, slot, bias;
	struct hodo_plan_hook *hooks;
	uint16_t own_bytes;   /* of the code that replaces its instruction */
	uint8_t entry, exits; /* as in struct hodo_probe_planned */
	uint8_t flags;        /* HODO_PLAN_* */
};

struct hodo_plan_parts {
	struct hodo_plan_item *const *items; /* by address */
	uint32_t nitems;
	const struct hodo_plan_function *functions;
	uint32_t nfunctions;
	const struct hodo_plan_data *data;
	unsigned ndata;
	hodo_probe_hook_fn hook; /* its argument is the item */
};

/* The sealed file, or negative errno. space: has the slots' pages. */
int hodo_plan_write(const struct hodo_plan_parts *parts, const struct hodo_probe_space *space);
