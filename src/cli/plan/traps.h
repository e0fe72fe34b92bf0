/* SPDX-License-Identifier: MIT */
/*
 * traps.h - reports once what code that was not prepared does not allow: some probes are breakpoints,
 * which cost more, and some exits of functions are not seen.
 */
#ifndef HODO_CLI_PLAN_TRAPS_H
#define HODO_CLI_PLAN_TRAPS_H

#include <probe/patch/build.h>

/* After a plan for a process. said: whether it was reported, in and out. */
void hodo_record_traps_look(const struct hodo_probe_target *targets, uint32_t n, bool *said);
void hodo_record_missed_look(const struct hodo_probe_built *built, bool *said);

#endif
