/* SPDX-License-Identifier: MIT */
/*
 * hodo/control.h - control of tracing from inside the program, for example
 * from a server's own admin port; link with libhodo (pkg-config hodo, CMake
 * Hodo::hodo).
 *
 * All functions are thread safe, may be called in a forked child, and return a
 * negative errno on failure. Do not call them in signal handlers, except for
 * hodo_snapshot() when a recorder has the buffers.
 */
#ifndef HODO_CONTROL_H
#define HODO_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Switch all events whose name matches the glob pattern ("kv:*", "kv:put")
 * on or off, in addition to what the recorder asked for: hodo_disable() keeps
 * events out of the recording, and hodo_enable() allows them (including events
 * that the recording's -e did not name). When hodo_disable() returns, none of
 * these events is recorded any more, in any thread, until it is enabled again.
 * Probes of tracepoints are not affected.
 *
 * Returns the number of events that match, or -EINVAL for a NULL or empty
 * pattern, -ENOTCONN from hodo_enable() if nothing is recording this process,
 * or another negative errno if code could not be patched. In objects that are
 * opened later, the recorder's patterns decide.
 */
int hodo_enable(const char *pattern);
int hodo_disable(const char *pattern);

/*
 * Listen for `hodo record -p`, list, enable, disable and the like, in a
 * thread with all signals blocked and its own descriptor table: it does not
 * touch the program's descriptors, and the program neither sees nor closes
 * the thread's. Only the same user and root can connect. This is the same as
 * HODO_LISTEN=1 in the environment. Forked children of a process that listens
 * listen too. A program that changes its user with PR_SET_KEEPCAPS must call
 * this afterwards: the thread lacks the capability to follow, and libc would
 * end the process.
 *
 * Returns 0, even if it already listens; -EPERM if the thread's descriptors
 * cannot be kept apart (Linux before 5.9, or a sandbox that refuses close_range(2)),
 * -ENAMETOOLONG, or an error of socket(2), bind(2) or pthread_create(3).
 */
int hodo_listen(void);

/*
 * Start a flight recorder without a recorder process: the newest events of
 * each CPU stay in a file, DIRECTORY/COMM-PID.flight. `hodo recover` makes a
 * trace of it at any time, even after SIGKILL. This is the same as HODO_FLIGHT
 * and the related variables in the environment. Members that are 0 or NULL
 * take their defaults.
 *
 * Returns 0; -EBUSY while this process is being recorded; -EINVAL for a wrong size
 * of the structure, buffers below 4 KiB or above 1 TiB, or events that are not patterns;
 * -ENOSPC, -EACCES and the like if the file cannot be made in full: its space is allocated at once.
 */
struct hodo_flight_options {
	size_t size;           /* sizeof(struct hodo_flight_options) */
	const char *directory; /* must exist; NULL: the value of HODO_FLIGHT, or -EINVAL if that is not set */
	uint64_t buffer_bytes; /* for each CPU, rounded up to a power of two; default: 1 MiB */
	const char *events;    /* patterns as in `hodo record -e`, separated by commas; default: all events */
};
int hodo_flight_start(const struct hodo_flight_options *options);

/*
 * End the recording of this process, whoever started it. A recorder writes what
 * it has and goes on with other processes; a flight recorder's file
 * stays. When the function returns, no event is recorded any more. Returns 0;
 * -ENOTCONN if nothing is recording this process; -EAGAIN if a thread has been inside an event for two
 * seconds: the recording is over then, too, but no other can begin before that thread goes on.
 */
int hodo_stop(void);

/*
 * Write what the flight recorder holds, and go on. why: a string of up to 79
 * bytes that is stored in the trace, or NULL for none.
 *
 * With `hodo record --overwrite`, the recorder is asked and writes some
 * milliseconds later; you may then call this in signal handlers. Otherwise the flight recorder's
 * file is copied to COMM-PID.N.snapshot next to it, before the function returns.
 * Returns the number of the snapshot, from 1; -ENOTCONN if nothing is recording this
 * process, -EOPNOTSUPP if the recording keeps all events anyway, or an error
 * of writing the copy.
 */
int hodo_snapshot(const char *why);

/* What the current recording of this process has done so far. */
struct hodo_statistics {
	size_t size;          /* set by the caller: sizeof(struct hodo_statistics) */
	uint64_t events;      /* recorded, including those overwritten since */
	uint64_t bytes;       /* of all packets that were begun, in all rings */
	uint64_t lost_full;   /* the buffer was full */
	uint64_t lost_large;  /* larger than a packet */
	uint64_t lost_busy;   /* threads without restartable sequences got in each other's way */
	uint64_t limited;     /* beyond their rate */
	uint32_t known;       /* different events in the program */
	uint32_t enabled;     /* of these, the ones that are recorded */
	uint32_t threads;     /* that have recorded events */
	uint32_t recorder;    /* its PID; 0: a flight recorder, or unknown */
	uint32_t flight;      /* 1: a flight recorder in a file */
	uint32_t snapshots;
};

/*
 * Fill the members of *statistics that its size has room for. Returns 0, -ENOTCONN if nothing is recording
 * this process (then known is set, and all else is 0), -EINVAL if size is below 24.
 */
int hodo_statistics(struct hodo_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
