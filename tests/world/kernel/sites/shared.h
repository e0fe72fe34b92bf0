/* SPDX-License-Identifier: MIT */
/* shared.h - what two modules have in common. */
#ifndef TESTS_KERNEL_SITES_SHARED_H
#define TESTS_KERNEL_SITES_SHARED_H

#include <hodo/trace.h>

#include "fire.h"

HODO_TRACEPOINT(sshared, step, (int, n), (const char *, who));

static void shared_fire(int n)
{
	HODO_EVENT(sshared, put, n, HODO_F(who, KBUILD_MODNAME));
	HODO_MARK(sshared, said, "%s says %d", KBUILD_MODNAME, n);
	trace_sshared_step(n, KBUILD_MODNAME);
}
FIRE_PARAMETER(shared_fire);

#endif
