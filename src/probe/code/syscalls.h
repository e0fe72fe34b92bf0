/* SPDX-License-Identifier: MIT */
/*
 * syscalls.h - the system calls of an object that may change which signals are blocked, or their handlers.
 * Patching with traps requires that their signals are never blocked (src/func/engine/mask.c).
 */
#pragma once

#include "object.h"

/* Whether it can have any, judged by its bytes, before anything is decoded. */
bool hodo_probe_may_call(const struct hodo_elf *e);

/*
 * Takes each instruction `syscall` whose number is one of those, or is not known from the code before it. A
 * result other than 0 ends the walk, and is returned.
 */
typedef int (*hodo_probe_syscall_fn)(void *arg, uint64_t addr);
int hodo_probe_syscalls(const struct hodo_probe_object *o, hodo_probe_syscall_fn each, void *arg);
