/* SPDX-License-Identifier: MIT */
/*
 * recording.h - a recording: the consumer's side of all traced processes.
 *
 * One thread, the caller's. The caller waits until hodo_recorder_fd() is
 * readable or the time that hodo_recorder_step() returned is over, and calls
 * hodo_recorder_step() again.
 */
#pragma once

#include <sys/types.h>

#include <base/why.h>
#include <hodo/abi.h>
#include <pack/compress.h>
#include <plan/planner.h>

#include "clock.h"
#include "functions.h"
#include <read/event/pattern.h>
#include <record/ring/ring_reader.h>
#include <record/join/roots.h>

struct hodo_recorder;
struct hodo_process;

/* How much is written, and where. All 0: everything, into one recording. */
struct hodo_limits {
	uint64_t max_bytes;    /* of packets on disk; the recording ends when it is reached */
	uint64_t rotate_bytes; /* begin a new part after that many bytes */
	uint64_t rotate_ns;    /* begin a new part after that much time */
	uint32_t keep;         /* parts; older ones are removed; 0: all */
};

/* Overwrite mode: when a process's buffers are written. None: at its end, or the recording's. */
struct hodo_snapshots {
	bool on_crash; /* when it dies of a signal */
	bool on_exit;  /* when it ends in any way */
	bool only;     /* when it, or a trigger, asks for it, and not at the end unless on_exit or on_crash says so */
};

/* Process images that belong to the recording but are not in it. */
#define HODO_UNRECORDED_REASONS 16u /* the last one stands for all beyond */

struct hodo_unrecorded {
	uint64_t images;
	char why[192];
};

/* What its owner does for a recorder; NULL: nothing. Must not call functions of the recorder. */
struct hodo_recorder_ops {
	/*
	 * The process is about to execute a program in a root directory where the libraries are not, and waits: makes
	 * copies of them there, as LD_PRELOAD is to name them. 0, or negative errno, which the user knows then.
	 */
	int (*copy)(void *arg, pid_t pid, char *paths, size_t size);
	/* The process asks for HODO_WANTS_GUARD. */
	void (*guard)(void *arg, pid_t pid);
	/*
	 * Instead of files (out_fd -1): gets every packet, checked, with its complete header. The process's
	 * catalogue (process.h) has every id in it. It must keep neither.
	 */
	void (*packet)(void *arg, const struct hodo_process *p, const struct hodo_packet *h, const uint8_t *body);
	/*
	 * What was recorded before that time (ticks) is on disk, with names of threads; this is the clock as known by
	 * now. Called about once a second, and with UINT64_MAX when the recording is complete. Must not wait.
	 */
	void (*reached)(void *arg, uint64_t ticks, const struct hodo_read_clock *clock);
	/*
	 * Takes a part when it is complete, all but the last one. It is not touched or counted any more; its clock is
	 * as well known as at that time.
	 */
	void (*part_done)(void *arg, uint32_t number);
};

struct hodo_recorder_config {
	int out_fd;           /* directory of the recording (hodo_out_dir_open()); the caller keeps it */
	const char *out_path; /* for messages */
	const char *listed;   /* for messages: what 'hodo list' shows the events of; NULL: of out_path */
	uint64_t ring_size;   /* bytes per CPU, 2^n */
	uint32_t packet_size; /* bytes, 2^n */
	enum hodo_mode mode;
	uint64_t wait_ns; /* longest wait of a writer for room (discard mode); 0: none; HODO_WAIT_FOREVER */
	enum hodo_clock clock;            /* or 0, which no clock has: the TSC where it can be used */
	struct hodo_pattern_list *patterns; /* stays the caller's */
	const uint8_t *filter;            /* program, NULL if none */
	size_t filter_len;
	struct hodo_pattern_list *fields; /* that the filter names; stays the caller's */
	const struct hodo_functions *functions; /* NULL: none; stays the caller's */
	bool functions_of_kernel; /* functions of the kernel, not of processes */
	uint64_t packet_age_ns; /* open packets older than this are closed by the next event */
	struct hodo_conditions *conditions; /* rates and triggers; NULL: none; stays the caller's */
	bool awaits_start;                               /* recording begins at a start trigger */
	const struct hodo_context_config *context; /* NULL: none; stays the caller's */
	struct hodo_planner *planner; /* for processes that wait for a plan; NULL: none; stays the caller's */
	bool plans; /* processes ask for one from the start; else only once a probe was added */
	struct hodo_limits limits;
	struct hodo_snapshots snapshots;
	uint32_t drain_threads; /* the most that drain rings; 0: as suits this machine */
	int compress; /* streams, at this level (pack/compress.h); 0: not compressed */
	struct hodo_roots *roots; /* NULL, or: where those of recorded processes are kept; stays the caller's */
	struct hodo_recorder_ops ops;
	void *arg; /* of these */
	struct hodo_reporter reporter;
};

struct hodo_recorder_stats {
	uint64_t events;    /* while it runs: committed so far; at the end: in the trace */
	uint64_t bytes;     /* of packets on disk */
	uint64_t waited_ns; /* by writers for room, sum of all threads; of processes that have ended */
	uint32_t processes; /* images recorded so far */
	uint32_t live;      /* those still being recorded */
	uint32_t refused;   /* images that connected and are not recorded */
	uint32_t reasons;   /* why these are not, and others that never connected */
	struct hodo_unrecorded unrecorded[HODO_UNRECORDED_REASONS];
	bool command;       /* the command itself was recorded */
	bool command_refused; /* the command connected, and was not recorded: unrecorded says why */
	bool kernel;        /* the kernel was recorded: counts in processes */
	bool ended;         /* by a limit or a trigger: the caller closes the recorder */
	uint64_t limited;   /* events that were over their rate */
	uint64_t met[HODO_CONDITIONS_MAX]; /* at the end: how often each condition was */
	uint32_t snapshots; /* written */
	uint64_t snapshot_events, snapshot_bytes; /* in all of them */
	uint32_t unwritten; /* processes not written, since snapshots did not ask for their kind of end */
	uint32_t parts;     /* of a recording that rotates, removed ones included */
	uint32_t parts_kept;
	uint64_t removed_events; /* in parts that were removed because of limits.keep */
	bool full;               /* limits.max_bytes was reached; lost.unwritten includes the rest of the buffers */
	struct hodo_lost lost;
	uint64_t room; /* the ring size that would have kept the events that found no room; 0: not known */
	struct hodo_functions_seen functions; /* at the end */
};

/* 0 or negative errno, with a line for the user in why. Copies the config, but not what it points to. */
int hodo_recorder_open(struct hodo_recorder **out, const struct hodo_recorder_config *config, struct hodo_why *why);

/* The socket's path: the value of HODO_RECORDER for the command. */
const char *hodo_recorder_socket(const struct hodo_recorder *s);

/*
 * The path at which children of the process pid can join, as that process sees it. For another user's
 * process, or one with its own root directory: a socket made for it, or else the abstract address. "":
 * nowhere.
 */
const char *hodo_recorder_socket_for(struct hodo_recorder *s, pid_t pid);

/* Sets the command's pid, once it is started. */
void hodo_recorder_set_command(struct hodo_recorder *s, pid_t pid);

/* The command has ended, with this status from wait(). */
void hodo_recorder_command_ended(struct hodo_recorder *s, int status);

/*
 * Records a process that listens and has answered HODO_CONTROL_RECORD with 0 on the connection fd, which the
 * recorder takes, like pidfd. The connection stays open as long as the process is recorded. 0, or negative
 * errno with both descriptors closed.
 */
int hodo_recorder_adopt(struct hodo_recorder *s, int fd, pid_t pid, int pidfd);

/* Readable when hodo_recorder_step() has something to do before its time. */
int hodo_recorder_fd(const struct hodo_recorder *s);

/* Does all pending work; returns after how many ns it must be called again, at the latest. */
int64_t hodo_recorder_step(struct hodo_recorder *s);

/* Whether some process has begun, but not finished, joining. */
bool hodo_recorder_joining(const struct hodo_recorder *s);
/*
 * Whether processes (not the kernel) are recorded, are about to be, or may yet come: some live process was
 * started with our socket in its environment and has said nothing. That is waited for at most
 * HODO_RECORDER_GRACE_NS.
 */
#define HODO_RECORDER_GRACE_NS 500000000
bool hodo_recorder_busy(struct hodo_recorder *s);

/* Whether a limit or a trigger has ended it: the caller closes the recorder. */
bool hodo_recorder_ended(const struct hodo_recorder *s);

void hodo_recorder_stats(const struct hodo_recorder *s, struct hodo_recorder_stats *stats);

/* Stops if necessary, completes the metadata, reports unknown patterns, and frees. stats may be NULL. */
void hodo_recorder_close(struct hodo_recorder *s, struct hodo_recorder_stats *stats);
