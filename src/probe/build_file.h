/* SPDX-License-Identifier: MIT */
/* build_file.h - a plan's parts, once every slot has its place, and the file that is made of them. */
#ifndef HODO_PROBE_BUILD_FILE_H
#define HODO_PROBE_BUILD_FILE_H

#include <hodo/abi_plan.h>

#include "build.h"
#include "recipe.h"
#include "space.h"

#define HODO_PLAN_POOL_BYTES (8u * HODO_PLAN_IMPORTS)

/* Pages of data near an object: the imports, then a struct hodo_plan_state for each window of its events. */
struct hodo_plan_data {
	uint64_t addr;
	uint32_t pages;
	uint32_t states; /* so far */
};

/* A window, and all about it. */
struct hodo_plan_item {
	struct hodo_probe_window window;
	struct hodo_probe_recipe recipe;
	uint64_t function; /* in memory; 0: a system call */
	uint64_t pool, slot;
	uint8_t entry, exits; /* as struct hodo_probe_planned has them */
	uint8_t flags;        /* HODO_PLAN_* */
	uint8_t tails;        /* of the exits, those that are jumps to other functions */
	const struct hodo_probe_event *event; /* NULL: none */
	uint64_t bias, state; /* of the event */
	uint32_t stack;       /* bytes that its code has on the stack */
};

struct hodo_plan_parts {
	struct hodo_plan_item *items; /* by address */
	uint32_t nitems;
	const struct hodo_plan_function *functions;
	uint32_t nfunctions;
	const struct hodo_plan_data *data;
	unsigned ndata;
	uint32_t nevents;
	hodo_probe_hook_fn hook; /* its argument is the item */
};

/* The sealed file, or negative errno. space: whose pages the slots are in. */
int hodo_plan_write(const struct hodo_plan_parts *parts, const struct hodo_probe_space *space);

#endif
