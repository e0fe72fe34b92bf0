/* SPDX-License-Identifier: MIT */
/*
 * snapshots.h - the flight recorder: when the buffers of recorded processes are written.
 *
 * A process, or a trigger in it, increments hodo_shm.snapshots, and the next poll (every 2 ms, or ten times
 * the time that polling all processes takes) makes DIR/snapshot-NNNN for all requests until then. Requests
 * that come meanwhile make one more. At its end, a process is written as usual, unless options such as
 * --on-crash exclude it: then nothing of it is on disk before that is decided.
 */
#ifndef HODO_RECORD_WRITE_SNAPSHOTS_H
#define HODO_RECORD_WRITE_SNAPSHOTS_H

#include <base/text.h>

struct hodo_process;

#define HODO_SNAPSHOTS_MAX 9999u /* of one recording */
#define HODO_SNAPSHOTS_LOOK_NS 2000000

/* The recorder's state. */
struct hodo_snapshots_made {
	bool failed, too_many;   /* reported once */
	bool ended;              /* a trigger has ended the recording */
	bool crashed;            /* some process has, if crashes are of interest */
	struct hodo_text done;   /* folders that get the final clock */
	bool command_ended;
	int command_status;      /* from wait() */
};

/* A process's state. */
struct hodo_snapshots_state {
	uint32_t seen;  /* requests that were answered */
	bool withheld;  /* nothing of it may be on disk yet */
	bool asked;     /* a trigger has ended its recording: write its buffers */
};

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

#endif
