/* SPDX-License-Identifier: MIT */
/*
 * landings.h - functions by which calls are left, known by their names: where an exception lands, the code
 * calls __cxa_begin_catch() or, after a cleanup, _Unwind_Resume(); longjmp() and the like; changes of stacks.
 */
#pragma once

#include "object.h"

/* Finds those that the file defines; longjmp() and the like only if it is libc, or contains it. */
void hodo_probe_landings_find(struct hodo_probe_object *o, Elf *elf);
/* A file's relation to them: it defines some, or refers to others'. */
#define HODO_PROBE_LANDS_DEFINES 1u
#define HODO_PROBE_LANDS_REFERS  2u
unsigned hodo_probe_landings_in(Elf *elf);
