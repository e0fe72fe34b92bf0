/* SPDX-License-Identifier: MIT */
/* scenes.h - scenes of patched.c that have a file of their own. Each ends the process where something is wrong. */
#ifndef HODO_TESTS_ENGINE_SCENES_H
#define HODO_TESTS_ENGINE_SCENES_H

#include <stdint.h>

/* traps.c: code that comes to the middle of a window again and again; traps that are the program's own. */
void scene_hot(void);
void scene_steps(void);
/* traps.c: a plan that is refused, and what is left of it; traps where an object was that has gone. */
void scene_refused(void);

/* cloned.c: children that no fork handler knows of, made while windows are written. wanted: in
 * the middle. */
void scene_clone(unsigned wanted);

/* torture.c: random functions of several libraries are set and removed so often, while threads run them. */
void scene_torture(uint64_t cycles);

#endif
