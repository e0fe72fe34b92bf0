/* SPDX-License-Identifier: MIT */
/*
 * live.h - a library of this process with a probe on every function's entry and exits: each counts. One thread, and the
 * code is written as data is: what is tried is the plan, not how code that runs is changed.
 */
#ifndef HODO_TESTS_PROBE_LIVE_H
#define HODO_TESTS_PROBE_LIVE_H

#include <probe/place.h>
#include <probe/plan.h>

struct live_probe {
	struct hodo_probe_recipe recipe;
	struct hodo_probe_slot slot;
	uint8_t jump[HODO_PROBE_JUMP_BYTES];
	uint64_t counts[HODO_PROBE_WINDOW_INSTRUCTIONS];
};

struct live {
	char path[4096];
	uint64_t bias;
	struct hodo_probe_object object;
	struct hodo_probe_plan plan;
	struct hodo_probe_space space;
	struct live_probe *probes; /* as the plan's windows */
	unsigned jumps, traps;     /* of the windows */
	uint64_t trapped, undefined; /* signals that were served: SIGTRAP, SIGILL */
};

/* Plans all of the library that is loaded and whose path ends so. */
enum {
	LIVE_ENTER = 1,     /* also windows that known jumps enter */
	LIVE_UNDEFINED = 2, /* what int3 in the highest byte of a jump reaches is taken: others trap there */
	LIVE_TRAPS = 4      /* no jumps */
};
void live_open(struct live *l, const char *name, unsigned how);
void live_set(struct live *l);
void live_unset(struct live *l);
/* How many probes were hit, and how often. */
unsigned live_hit(const struct live *l, uint64_t *calls);
/* Entries and exits that were counted. */
void live_balance(const struct live *l, uint64_t *entries, uint64_t *exits);
void live_close(struct live *l);

#endif
