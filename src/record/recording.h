/* SPDX-License-Identifier: MIT */
/*
 * recording.h - a recording: the consumer's end of all traced processes.
 *
 * One thread, the caller's. The caller waits until hodo_session_fd() is
 * readable or the time that hodo_session_step() returned is over, and calls
 * hodo_session_step() again.
 */
#ifndef HODO_RECORD_RECORDING_H
#define HODO_RECORD_RECORDING_H

#include <sys/types.h>

#include <hodo/abi.h>
#include <hodo/abi_plan.h>
#include <pack/compress.h>

#include "functions.h"
#include "message.h"
#include "pattern.h"
#include "ring_reader.h"
#include "unrecorded.h"

struct hodo_session;
struct hodo_process;

/* What a plan is to be about. */
struct hodo_plan_request {
	pid_t pid;
	bool came;  /* it ran already */
	uint32_t n; /* of `object`, which alone the plan is about; 0: all that the process has mapped */
	struct hodo_plan_object object[HODO_PLAN_OBJECTS_MAX];
	bool starts; /* it has just been started: it loads libraries later */
	bool loads;  /* it can be asked to load libraries first */
	char load[HODO_PLAN_LOAD_MAX]; /* out, with -ELIBACC: which, each with a newline behind it */
};

/* How much is written, and where. All 0: everything, into one recording. */
struct hodo_limits {
	uint64_t max_bytes;    /* of packets on disk; then the recording ends */
	uint64_t rotate_bytes; /* a new part of the recording each so many bytes … */
	uint64_t rotate_ns;    /* … or so much time */
	uint32_t keep;         /* parts; older ones are removed; 0: all */
};

/* Overwrite mode: when a process's buffers are written. None: at its end, or the recording's. */
struct hodo_snapshots {
	bool on_crash; /* when it dies of a signal */
	bool on_exit;  /* when it ends in any way */
	bool only;     /* when it, or a trigger, asks for it, and not at the end unless on_exit or on_crash says so */
};

struct hodo_session_config {
	int out_fd;           /* directory of the recording (hodo_out_dir_open()); stays the caller's */
	const char *out_path; /* for messages */
	uint64_t ring_size;   /* bytes a CPU, 2^n */
	uint32_t packet_size; /* bytes, 2^n */
	enum hodo_mode mode;
	uint64_t wait_ns; /* longest wait of a writer for room (discard mode); 0: none; HODO_WAIT_FOREVER */
	enum hodo_clock clock;            /* 0: the TSC where it can be used */
	struct hodo_pattern_list *patterns; /* stays the caller's */
	const uint8_t *filter;            /* program, NULL if none */
	size_t filter_len;
	struct hodo_pattern_list *fields; /* that the filter names; stays the caller's */
	const struct hodo_functions *functions; /* NULL: none; stays the caller's */
	bool functions_of_kernel; /* they are the kernel's, not the processes' */
	uint64_t packet_age_ns; /* open packets older than this are closed by the next event */
	struct hodo_conditions *conditions; /* rates and triggers; NULL: none; stays the caller's */
	bool awaits_start;                               /* record from a start trigger on */
	const struct hodo_context_config *context; /* NULL: none; stays the caller's */
	/*
	 * NULL, or: makes a plan (hodo/abi_plan.h) for a process that waits for it. A descriptor, which becomes the
	 * session's; negative: there is none, which the user knows if need be; -ELIBACC: libraries are to be loaded
	 * first. In a thread of its own, one plan at a time; no function of the session is to be called.
	 */
	int (*plan)(void *arg, struct hodo_plan_request *request);
	bool plans; /* processes ask for one from the start; else once a probe was added */
	/*
	 * NULL, or: HODO_CONTROL_PROBE_ADD, _REMOVE or _LIST of what plans are made of, while none is being made. The
	 * answer's result; found: its path.
	 */
	int (*probe)(void *arg, enum hodo_control_op op, const char *text, uint32_t next, char *found, size_t size);
	/*
	 * Sets what is always on in a process of which the threads must stand meanwhile, by the plan that it was sent.
	 * 0, or negative errno, which the user knows then.
	 */
	int (*plan_still)(void *arg, pid_t pid, int pidfd, int plan);
	void *plan_arg;
	/* NULL, or: the process asks for HODO_WANTS_GUARD. */
	void (*guard)(void *arg, pid_t pid);
	void *guard_arg;
	struct hodo_limits limits;
	struct hodo_snapshots snapshots;
	uint32_t drain_threads; /* that drain rings, at most; 0: as many as is right on this machine */
	int compress; /* streams, at this level (pack/compress.h); 0: they are not */
	/*
	 * Instead of files (out_fd -1): is given every packet, checked, with all of its header. The process's catalogue
	 * (process.h) knows every id in it. Neither is to be kept, and no function of the session to be called.
	 */
	void (*packet)(void *arg, const struct hodo_process *p, const struct hodo_packet *h, const uint8_t *body);
	void *packet_arg;
	struct hodo_reporter reporter;
};

struct hodo_session_stats {
	uint64_t events;    /* while it runs: committed so far; at the end: in the trace */
	uint64_t bytes;     /* of packets on disk */
	uint64_t waited_ns; /* by writers for room, all threads together; of processes that have ended */
	uint32_t processes; /* images recorded so far */
	uint32_t live;      /* of them, still being recorded */
	uint32_t refused;   /* images that came and are not recorded */
	uint32_t reasons;   /* why these are not, and others that never came */
	struct hodo_unrecorded unrecorded[HODO_UNRECORDED_REASONS];
	bool command;       /* the command itself was recorded */
	bool command_refused; /* … came, and was not: unrecorded says why */
	bool kernel;        /* the kernel was recorded: one of processes */
	bool ended;         /* by a limit or a trigger: the caller closes the session */
	uint64_t limited;   /* events that were over their rate */
	uint64_t met[HODO_CONDITIONS_MAX]; /* at the end: how often each condition was */
	uint32_t snapshots; /* written */
	uint64_t snapshot_events, snapshot_bytes; /* in all of them */
	uint32_t unwritten; /* processes that were not written, since they ended otherwise than snapshots says */
	uint32_t parts;     /* of a recording that rotates, removed ones included */
	uint32_t parts_kept;
	uint64_t removed_events; /* in parts that were removed, as limits.keep says */
	bool full;               /* limits.max_bytes was reached; what was in the buffers then is in lost.unwritten */
	struct hodo_lost lost;
	uint64_t room; /* the size of rings that had kept those of them that found no room; 0: not known */
	struct hodo_functions_seen functions; /* at the end */
};

/* 0 or negative errno, with a line for the user in error. The config is copied, what it points to is not. */
int hodo_session_open(struct hodo_session **out, const struct hodo_session_config *config, char *error,
		      size_t error_size);

/* The socket's path: the value of HODO_RECORDER for the command. */
const char *hodo_session_socket(const struct hodo_session *s);

/*
 * The path at which children of the process pid can join, as that process sees it: of another user's, or with a
 * root directory of its own, a socket made for it, or else the abstract address. "": nowhere.
 */
const char *hodo_session_socket_for(struct hodo_session *s, pid_t pid);

/* The command's pid, once it is started. */
void hodo_session_set_command(struct hodo_session *s, pid_t pid);

/* It has ended, with this status of wait(). */
void hodo_session_command_ended(struct hodo_session *s, int status);

/*
 * Records a process that listens and has answered HODO_CONTROL_RECORD by 0 on
 * the connection fd, which becomes the session's, like pidfd. The connection stands as
 * long as the process is recorded. 0 or negative errno, both descriptors closed.
 */
int hodo_session_adopt(struct hodo_session *s, int fd, pid_t pid, int pidfd);

/* Readable when hodo_session_step() has something to do before its time. */
int hodo_session_fd(const struct hodo_session *s);

/* Does what there is to do; returns after how many ns it wants to be called again, at the latest. */
int64_t hodo_session_step(struct hodo_session *s);

/* Some process has begun to join, and has not ended that. */
bool hodo_session_joining(const struct hodo_session *s);
/*
 * Whether processes are recorded, the kernel aside, are about to be, or may yet come: some live
 * process was started with our socket in its environment and has not spoken.
 * Such a one is waited for HODO_SESSION_GRACE_NS at most.
 */
#define HODO_SESSION_GRACE_NS 500000000
bool hodo_session_busy(struct hodo_session *s);

/* Whether it has come to its end by a limit or a trigger: the caller closes the session. */
bool hodo_session_ended(const struct hodo_session *s);

/* Ends the recording of all processes, which run on unharmed; nobody can join any more. */
void hodo_session_stop(struct hodo_session *s);

void hodo_session_stats(const struct hodo_session *s, struct hodo_session_stats *stats);

/* Stops if need be, completes the metadata, reports unknown patterns, and frees. stats may be NULL. */
void hodo_session_close(struct hodo_session *s, struct hodo_session_stats *stats);

#endif
