/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h - the system calls of an object that may change which signals are blocked, or who handles them. Who
 * patches with traps must see to it that their signals are never blocked (src/engine/mask.c).
 */
#ifndef HODO_PROBE_SYSCALLS_H
#define HODO_PROBE_SYSCALLS_H

#include "object.h"

/* Whether it can have any: from a look at its bytes, before anything is decoded. */
bool hodo_probe_may_call(const struct hodo_elf *e);

/*
 * Takes each instruction `syscall` whose number is one of those, or is not known from the code before it. Other than 0
 * ends it, and is returned.
 */
typedef int (*hodo_probe_syscall_fn)(void *arg, uint64_t addr);
int hodo_probe_syscalls(const struct hodo_probe_object *o, hodo_probe_syscall_fn each, void *arg);

#endif
