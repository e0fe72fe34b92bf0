/* SPDX-License-Identifier: MIT */
/* wall.h - what a recording notes of the host's wall clock, to say later how far it can be trusted. */
#pragma once

#include <hodo/read.h>

/* The kernel's clock at one moment, as adjtimex(2) has it. */
struct hodo_wall {
	bool known;       /* false: nothing else is */
	bool synchronised; /* by NTP, PTP or the like */
	int64_t mono_ns, real_ns;
	int64_t error_ns; /* the estimate of who sets it */
	int64_t max_error_ns;
	int64_t drift_ppb; /* how its frequency is corrected */
	int64_t tai_s;    /* TAI - UTC; 0: not known */
};

/* When the recording of the process began and ended. */
const struct hodo_wall *hodo_read_walls(const struct hodo_read_process *process);
