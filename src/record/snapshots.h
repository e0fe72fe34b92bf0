/* SPDX-License-Identifier: MIT */
/*
 * snapshots.h - the flight recorder: when the buffers of recorded processes are written.
 *
 * A process, or a trigger in it, counts up hodo_shm.snapshots, and the next look (every 2 ms, or ten times as long
 * as looking at all processes takes) makes DIR/snapshot-NNNN, for all requests until then. What comes while it is made
 * makes one more. At its end a process is written as it always is, unless --on-crash and the like
 * say that it is not: then nothing of it is on disk before that is decided.
 */
#ifndef HODO_RECORD_SNAPSHOTS_H
#define HODO_RECORD_SNAPSHOTS_H

#include <base/text.h>

struct hodo_process;

#define HODO_SNAPSHOTS_MAX 9999u /* of one recording */
#define HODO_SNAPSHOTS_LOOK_NS 2000000

/* Of the session. */
struct hodo_snapshots_made {
	bool failed, too_many;   /* reported once */
	bool ended;              /* a trigger has ended the recording */
	bool crashed;            /* some process has, as far as was asked for */
	struct hodo_text done;   /* folders that get the final clock */
	bool command_ended;
	int command_status;      /* as wait() has it */
};

/* Of a process. */
struct hodo_snapshots_state {
	uint32_t seen;  /* requests that were answered */
	bool withheld;  /* nothing of it is to be on disk yet */
	bool asked;     /* a trigger has ended its recording: its buffers are wanted */
};

/* Does what the process and its triggers ask for; HODO_WANTS_* of the triggers: STOP alone ends its recording. */
uint32_t hodo_snapshots_look(struct hodo_process *p);

/* It is about to be finished: makes the last snapshot that it asked for. Whether it is to be written itself. */
bool hodo_snapshots_end(struct hodo_process *p);

#endif
