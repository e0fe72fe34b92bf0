/* SPDX-License-Identifier: MIT */
/* probes.h - a tracepoint that several files and modules declare, each with its own state. */
#ifndef TESTS_KERNEL_SITES_PROBES_H
#define TESTS_KERNEL_SITES_PROBES_H

#include <hodo/trace.h>

HODO_TRACEPOINT(sprobe, step, (int, n), (const char *, who));
HODO_TRACEPOINT(sprobe, bare);

/* probes_places.c */
void places_step(int n);
bool places_enabled(void);

#endif
