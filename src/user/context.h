/* SPDX-License-Identifier: MIT */
/* context.h - what the parts of an event's context share. */
#ifndef HODO_USER_CONTEXT_H
#define HODO_USER_CONTEXT_H

#include <hodo/abi.h>

/* counters.c. prepare: what the threads have open is closed; NULL: no counters. Under the control lock, and nobody is
 * in put. */
__attribute__((visibility("hidden"))) void hodo_counters_prepare(const struct hodo_context_config *config);
/* Appends the calling thread's counters; opens them at the first event of a recording (epoch). In a section. */
__attribute__((visibility("hidden"))) uint8_t *hodo_counters_put(uint8_t *at, uint32_t epoch);

#endif
