/* SPDX-License-Identifier: MIT */
/*
 * record.h - what other modules include of record: this alone. What is not named here is between the files of
 * record; scripts/check-arrows holds to it.
 */
#ifndef HODO_RECORD_RECORD_H
#define HODO_RECORD_RECORD_H

/* A recording: what it is of, and running it. */
#include "conditions.h"
#include "event_filter.h"
#include "filter_compile.h"
#include "functions.h"
#include "kernel.h"
#include "launch.h"
#include "out_dir.h"
#include "pattern.h"
#include "recording.h"
#include "switches.h"

/* Recordings of what a flight recorder holds, and of what dead processes and interrupted recordings left. */
#include "flight_memory.h"
#include "memory.h"
#include "recover.h"
#include "snapshot.h"

/* Processes that listen, and what is in their memory. */
#include "catalog.h"
#include "clock.h"
#include "control.h"
#include "peer.h"
#include "proc_status.h"
#include "process.h"
#include "runtime_dir.h"
#include "shm.h"

/* What to do about an errno. */
#include "message.h"

#endif
