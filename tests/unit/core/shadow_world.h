/* SPDX-License-Identifier: MIT */
/*
 * shadow_world.h - threads that call, return, throw, longjmp, change stacks and get
 * signals, and record the truth. Tests compare core/shadow.c with it, which gets only entries
 * and exits, and some of the places where exceptions are caught.
 */
#ifndef HODO_TESTS_GRAPH_WORLD_H
#define HODO_TESTS_GRAPH_WORLD_H

#include <core/shadow.h>
#include <stdbool.h>
#include <stdint.h>

#define THREADS 3
#define STACKS 24 /* coroutines */
#define STACK_FRAMES 400
#define STACK_BYTES (16u << 10) /* of a coroutine; some are adjacent */

/* A frame as it really was. */
struct world_frame {
	uint64_t at, sp; /* sp: the lowest address in use, below which the frames of its calls are */
	uint64_t function, entry, exit, children;
	uint64_t closed_at;
	uint32_t depth;
	enum { LIVE, RETURNED, LEFT } state;
	enum hodo_frame_end end;
	unsigned closed; /* how many times */
	bool refused;    /* the shadow gave it no frame */
	bool messy;      /* calls inside of it are not reported exactly */
};

struct world_stack {
	uint64_t top;
	uint32_t ids[STACK_FRAMES];
	uint32_t n;
	bool active;
};

struct world_thread {
	struct world_stack own, alt;
	struct world_stack *running[STACKS + 2]; /* the last is on top */
	uint32_t n;
	struct hodo_shadow shadow;
	bool jumped;
};

struct world_options {
	uint64_t seed;
	uint32_t steps;
	bool stacks_known; /* as in the traced process */
	bool sp;           /* frames known by their stack pointer only; no coroutines */
	bool calm;         /* calls, returns and signals only: everything is reported exactly */
	bool coroutines;
	bool silent_moves; /* coroutines resume others, and change threads while the old thread has no event */
	const uint8_t *script; /* for the fuzzer: decides in place of the seed */
	size_t script_len;
};

struct world {
	struct world_options o;
	struct world_thread threads[THREADS];
	struct world_stack coroutines[STACKS];
	struct hodo_parked parked;
	struct world_frame *frames;
	uint32_t nframes, room;
	uint64_t now, random;
	size_t script_at;
	bool ended;
	uint64_t entered, parks, lane_max;
};

void world_run(struct world *w, const struct world_options *o); /* everything except the end */
void world_end(struct world *w);                                /* gives up all frames */
void world_free(struct world *w);

#endif
