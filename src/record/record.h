/* SPDX-License-Identifier: MIT */
/*
 * record.h - the only header of record for other modules. Headers not included here are private to record;
 * scripts/check-arrows enforces that.
 */
#pragma once

/* A recording: configuring and running it. */
#include "conditions.h"
#include "functions.h"
#include <record/kernel/kernel.h>
#include <record/join/launch.h>
#include <record/write/out_dir.h>
#include "recording.h"
#include <record/join/roots.h>
#include <record/kernel/switches.h>

/* Recordings of flight recorders' contents, and of what dead processes and interrupted recordings left. */
#include <record/recover/flight_memory.h>
#include <record/ring/lend.h>
#include <record/recover/recover.h>
#include <record/write/snapshot.h>

/* Processes that listen, and their memory. */
#include "catalog.h"
#include "clock.h"
#include <record/join/peer.h>
#include <proc/process.h>
#include "process.h"
#include <record/join/runtime_dir.h>
#include <record/ring/shm.h>

/* What to do about an errno. */
