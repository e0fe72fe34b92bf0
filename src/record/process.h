/* SPDX-License-Identifier: MIT */
/*
 * process.h - one traced process image: its shared memory, catalogue, rings, and its folder in the recording. All of it
 * for record; for a sink of packets (struct hodo_recorder_ops), to read: what it is, its memory, its catalogue and its
 * threads' names, and the readers of its rings, which are between two packets while the sink runs.
 */
#pragma once

#include <sys/types.h>

#include <base/map.h>

#include "catalog.h"
#include <record/write/ctf_metadata.h>
#include <record/ring/ring_reader.h>
#include <record/write/stream.h>
#include "watch.h"

struct hodo_recorder;

struct hodo_process_ring {
	struct hodo_process *process;
	uint32_t number;
	struct hodo_ring_reader reader;
	struct hodo_stream_file stream;
	struct hodo_lost reported;  /* by the folders in earlier parts */
	struct hodo_lost reporting; /* by the present one, once it is settled */
};

/* Events over their rate. */
struct hodo_process_limited {
	uint64_t reported, reporting;
};

/* What is known of a process image once it has said hello. */
struct hodo_process_id {
	pid_t pid;     /* in our pid namespace */
	uint32_t vpid; /* as it sees it itself */
	struct hodo_flight flight; /* it and its memory, in the form of a flight recorder's file */
	bool nested;   /* in a pid namespace below ours */
	bool other_root; /* its paths are not ours */
	uint64_t came; /* images.c: its number among those that have connected */
};

/* The flight recorder's (write/snapshots.h). */
struct hodo_snapshots_state {
	uint32_t seen;  /* requests that were answered */
	bool withheld;  /* nothing of it may be on disk yet */
	bool asked;     /* a trigger has ended its recording: write its buffers */
};

struct hodo_process {
	struct hodo_watch watch; /* of pidfd; first */
	struct hodo_recorder *recorder;
	struct hodo_process *next; /* of the recorder's */
	struct hodo_process_id id;
	/* It was running when its recording began (adopt.c): the connection on which that was agreed, and its
	 * end. */
	bool adopted;
	bool guarded;          /* HODO_WANTS_GUARD is done */
	struct hodo_watch line_watch;
	int line_fd;           /* -1: none, or it has ended */
	int64_t line_ended_ns; /* when the process ended it; 0: it did not */
	bool superseded;       /* by another image of the same process: it ended with exec */
	int pidfd;   /* -1: there is none */
	int memfd;
	bool kernel; /* it is the kernel (kernel.h): shm is read-only */
	bool ours;   /* the recorder itself writes there (switches.h); not a recorded process */
	uint8_t *shm;
	struct hodo_layout layout;
	char dir[64];
	int dirfd; /* -1: not made yet in this part of the recording */
	bool described; /* there is metadata in it */

	struct hodo_catalog catalog;
	uint32_t warnings_told;
	uint32_t images_seen; /* announced by it */
	bool damage_told;
	bool metadata_dirty; /* packets may need something not yet in it */
	bool threads_dirty;
	struct hodo_process_ring **ring; /* layout.rings, NULL until in use */
	uint32_t *active;                /* numbers of rings in use */
	uint32_t actives;
	bool age_set;
	struct hodo_functions_seen functions;
	struct hodo_snapshots_state snapshots;
	struct hodo_stream_file own; /* what the recorder itself writes about it at the end; name empty: nothing */
	uint64_t own_reported, own_reporting; /* unwritten ones, as in struct hodo_process_ring */
	struct hodo_process_limited *limited;   /* by event id; NULL: no event was over its rate */

	struct hodo_map threads;    /* of struct hodo_ctf_thread, by tid */
	uint32_t threads_read;      /* entries of the shared table before this one were all valid; of the kernel's, how
				     * many names it had stored */
	bool threads_full;          /* some threads have no name here */
	uint32_t threads_refreshed; /* where the refresh from /proc continues */
};

/* The recorder's first process; or NULL, also after the last one as `next`. */
struct hodo_process *hodo_recorder_processes(const struct hodo_recorder *s);

/* Adds rings that are newly in use to active. */
void hodo_process_find_rings(struct hodo_process *p);
/* Thread names and the age of packets; about once a second. */
void hodo_process_chores(struct hodo_process *p, uint64_t now_ticks, uint64_t age_ticks);
/* threads.c: reads new names from the shared table; all: also those not yet valid before. */
void hodo_process_read_threads(struct hodo_process *p, bool all);
/* threads.c: looks up some threads' present names. */
void hodo_process_refresh_threads(struct hodo_process *p);
