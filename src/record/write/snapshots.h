/* SPDX-License-Identifier: MIT */
/*
 * snapshots.h - the flight recorder: when the buffers of recorded processes are written.
 *
 * A process, or a trigger in it, increments hodo_shm.snapshots, and the next poll (every 2 ms, or ten times
 * the time that polling all processes takes) makes DIR/snapshot-NNNN for all requests until then. Requests
 * that come meanwhile make one more. At its end, a process is written as usual, unless options such as
 * --on-crash exclude it: then nothing of it is on disk before that is decided.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hodo_process;

#define HODO_SNAPSHOTS_MAX 9999u /* of one recording */
#define HODO_SNAPSHOTS_LOOK_NS 2000000

/*
 * Handles requests of the process and its triggers. Returns the triggers' HODO_WANTS_*: only STOP ends its
 * recording.
 */
uint32_t hodo_snapshots_look(struct hodo_process *p);

/*
 * It is about to be finished: makes the last snapshot that it asked for. Returns whether to write the process
 * itself.
 */
bool hodo_snapshots_end(struct hodo_process *p);
