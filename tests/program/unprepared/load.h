/* SPDX-License-Identifier: MIT */
/* load.h - plans libraries of this process, and has the engine that is linked with it take the plans in. */
#ifndef HODO_TESTS_ENGINE_LOAD_H
#define HODO_TESTS_ENGINE_LOAD_H

#include <func/engine/engine.h>
#include <probe/patch/build.h>

/* The slots count these. */
extern uint64_t entries, exits;
void count_entry(void);
void count_exit(void);

/* The loaded object whose path ends with `end`: its path, and its bias. False: there is none. */
bool load_find(const char *end, char path[4096], uint64_t *bias);

/*
 * Plans all functions of the objects, and the system calls of all of them, always including libc's. Returns a report
 * on the plan; ends the process with a message if something fails.
 */
struct hodo_probe_built load_build(const char *const *ends, unsigned n);
/* … and takes the plan in. */
struct hodo_probe_built load_plan(const char *const *ends, unsigned n);

/* Switches all functions' windows, or a random part of them: each with a chance of `percent`. */
void load_switch(bool on, unsigned percent, uint64_t *seed);
uint32_t load_windows(void); /* how many are on */

#define CHECK(what)                                                                                 \
	do {                                                                                        \
		if (!(what)) {                                                                      \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);          \
			_exit(1);                                                                   \
		}                                                                                   \
	} while (0)

#endif
