/* SPDX-License-Identifier: MIT */
/* load.h - libraries of this process planned, and the plans taken in by the engine that is linked with it. */
#ifndef HODO_TESTS_ENGINE_LOAD_H
#define HODO_TESTS_ENGINE_LOAD_H

#include <engine/engine.h>
#include <probe/build.h>

/* What the slots count. */
extern uint64_t entries, exits;
void count_entry(void);
void count_exit(void);

/* The loaded object whose path ends so; its place, and its bias. False: there is none. */
bool load_find(const char *end, char path[4096], uint64_t *bias);

/*
 * Plans all functions of the objects, and the system calls of all of them: libc's always. Returns what it says of the
 * plan; ends the process with a message where something fails.
 */
struct hodo_probe_built load_build(const char *const *ends, unsigned n);
/* … and takes the plan in. */
struct hodo_probe_built load_plan(const char *const *ends, unsigned n);

/* All functions' windows, or a random part of them: those whose turn it is in `percent` of a hundred. */
void load_switch(bool on, unsigned percent, uint64_t *seed);
uint32_t load_windows(void); /* that are on */

#define CHECK(what)                                                                                 \
	do {                                                                                        \
		if (!(what)) {                                                                      \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);          \
			_exit(1);                                                                   \
		}                                                                                   \
	} while (0)

#endif
