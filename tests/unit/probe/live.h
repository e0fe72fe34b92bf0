/* SPDX-License-Identifier: MIT */
/*
 * live.h - a library of this process with a probe that counts on every function's entry and exits. It takes one
 * thread, and writes code like data: this tests the plan, not the way in which running code is changed.
 */
#ifndef HODO_TESTS_PROBE_LIVE_H
#define HODO_TESTS_PROBE_LIVE_H

#include <probe/patch/place.h>
#include <probe/patch/whole_functions.h>

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
	struct live_probe *probes; /* one for each window of the plan */
	unsigned jumps, traps;     /* windows of that kind */
	uint64_t trapped, undefined; /* signals that were handled: SIGTRAP, SIGILL */
};

/* Plans the whole of the loaded library whose path ends in `name`. */
enum {
	LIVE_ENTER = 1,     /* also windows into which known jumps lead */
	LIVE_UNDEFINED = 2, /* what int3 in a jump's highest byte reaches is taken, so that other bytes trap there */
	LIVE_TRAPS = 4      /* no jumps */
};
void live_open(struct live *l, const char *name, unsigned how);
void live_set(struct live *l);
void live_unset(struct live *l);
/* How many probes were hit, and how often. */
unsigned live_hit(const struct live *l, uint64_t *calls);
/* Entries and exits that the probes counted. */
void live_balance(const struct live *l, uint64_t *entries, uint64_t *exits);
void live_close(struct live *l);

#endif
