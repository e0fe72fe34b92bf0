/* SPDX-License-Identifier: MIT */
/* record_traps.h - reports once that some probes of a recording are breakpoints, which cost more. */
#ifndef HODO_CLI_RECORD_TRAPS_H
#define HODO_CLI_RECORD_TRAPS_H

#include <probe/build.h>

/* After a plan for a process. said: whether it was reported, in and out. */
void hodo_record_traps_look(const struct hodo_probe_target *targets, uint32_t n, bool *said);

#endif
