/* SPDX-License-Identifier: MIT */
/*
 * functions.h - what a recording wants of functions, and what processes report: how many can be traced and
 * are, and what their tracers missed.
 */
#pragma once

#include <base/why.h>
#include <hodo/abi.h>
#include <read/event/pattern.h>

#define HODO_FUNCTION_NAME_MAX 1024u  /* bytes of a pattern */
#define HODO_FUNCTION_NAMES_MAX 1024u /* patterns of a list */

struct hodo_functions {
	uint32_t tracers; /* 1 << enum hodo_builtin, or-ed; 0: no functions */
	uint32_t flags;   /* HODO_FUNCTIONS_* */
	uint32_t depth_max;
	uint64_t limit_ns;
	struct hodo_pattern_list patterns, loops;
	/* What CONFIG does not say: */
	bool all;      /* besides the events, whatever their patterns select */
	bool excluded; /* a pattern of the events' leaves out functions */
	struct hodo_pattern_list arguments; /* functions whose arguments and results are recorded, too */
	uint64_t min_bytes; /* of functions without slots */
};

/*
 * Adds the comma-separated patterns in text; checks the form of address ranges, "0x1000-0x2000". 0; -EINVAL
 * and a message in why; -ENOMEM.
 */
int hodo_functions_add(struct hodo_pattern_list *list, const char *text, struct hodo_why *why);
void hodo_functions_free(struct hodo_functions *f);

/*
 * CONFIG's part about functions: its size, at most HODO_FUNCTIONS_MAX, and the part itself. -E2BIG: no room.
 */
size_t hodo_functions_size(const struct hodo_functions *f);
int hodo_functions_check(const struct hodo_functions *f);
void hodo_functions_pack(const struct hodo_functions *f, uint64_t limit_ticks, uint64_t ticks_per_s, uint8_t *to);

/* Counts of one process, or the sums of all. */
struct hodo_functions_seen {
	uint64_t found;   /* traceable functions */
	uint64_t on;      /* the most that were traced at a time */
	uint64_t missed;  /* entries in signal handlers that interrupted a tracer, and the like (dispatch.c) */
	uint64_t deep;    /* entries beyond the limit of frames */
	uint64_t threads; /* entries in threads beyond the limit of threads */
	uint64_t profile_lost; /* calls that the profile had no room for */
};

/* Reads the counters of a process's shared memory; on only grows. */
void hodo_functions_see(const struct hodo_shm *shm, struct hodo_functions_seen *seen);
void hodo_functions_sum(struct hodo_functions_seen *sum, const struct hodo_functions_seen *seen);
