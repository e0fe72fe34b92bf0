/* SPDX-License-Identifier: MIT */
/*
 * record.h - the only header of record for other modules. Headers not included here are private to record;
 * scripts/check-arrows enforces that.
 */
#ifndef HODO_RECORD_RECORD_H
#define HODO_RECORD_RECORD_H

/* A recording: configuring and running it. */
#include "conditions.h"
#include "functions.h"
#include "kernel.h"
#include "launch.h"
#include "out_dir.h"
#include "pattern.h"
#include "recording.h"
#include "roots.h"
#include "switches.h"

/* Recordings of flight recorders' contents, and of what dead processes and interrupted recordings left. */
#include "flight_memory.h"
#include "memory.h"
#include "recover.h"
#include "snapshot.h"

/* Processes that listen, and their memory. */
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
