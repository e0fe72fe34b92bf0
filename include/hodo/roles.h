/* SPDX-License-Identifier: MIT */
/*
 * hodo/roles.h - which thread may call which function; part of <hodo/tracer.h>.
 *
 *	void ui_draw(void) { HODO_ONLY_IN("main"); … }
 *	static void *worker(void *arg) { hodo_thread_role("worker"); … }
 */
#ifndef HODO_ROLES_H
#define HODO_ROLES_H

#include <hodo/trace.h>

#endif
