/* SPDX-License-Identifier: MIT */
/* scenes.h - scenes of patched.c in separate files. Each ends the process if something is wrong. */
#ifndef HODO_TESTS_ENGINE_SCENES_H
#define HODO_TESTS_ENGINE_SCENES_H

#include <stdint.h>

/* traps.c: code that jumps into the middle of a window again and again; traps of the program itself. */
void scene_hot(void);
void scene_steps(void);
/* traps.c: a refused plan, which leaves nothing behind; traps where an unloaded object was. */
void scene_refused(void);

/* cloned.c: children that no fork handler sees, made while windows are written. wanted: how many must see
 * code that is half written. */
void scene_clone(unsigned wanted);

/* torture.c: switches random functions of several libraries on and off, cycles times, while threads run them. */
void scene_torture(uint64_t cycles);

#endif
