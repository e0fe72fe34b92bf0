/* SPDX-License-Identifier: MIT */
/*
 * landings.h - functions by which calls are left, known by their names: where an exception lands calls
 * __cxa_begin_catch(), or, when its cleanup is done, _Unwind_Resume(); longjmp() and its like; changes of stacks.
 */
#ifndef HODO_PROBE_LANDINGS_H
#define HODO_PROBE_LANDINGS_H

#include "object.h"

/* Those that the file defines; longjmp() and its like, if that is libc, or has it. */
void hodo_probe_landings_find(struct hodo_probe_object *o, Elf *elf);
/* What a file has to do with them: it defines some, or refers to some of another's. */
#define HODO_PROBE_LANDS_DEFINES 1u
#define HODO_PROBE_LANDS_REFERS  2u
unsigned hodo_probe_landings_in(Elf *elf);

#endif
