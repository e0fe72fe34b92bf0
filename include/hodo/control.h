/* SPDX-License-Identifier: MIT */
/*
 * hodo/control.h - tracing controlled from inside the program, so that a
 * server can offer it through an admin port of its own; link with libhodo
 * (pkg-config hodo, CMake Hodo::hodo).
 *
 * All functions are thread safe, may be called in a fork child, and return a
 * negative errno on failure; none is for signal handlers, but for
 * hodo_snapshot() where a recorder has the buffers.
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
 * events out that the recording would take, hodo_enable() lets them in (also
 * those that its -e did not name). When hodo_disable() returns, no event of
 * these is recorded any more, from any thread, until it is enabled again.
 * Probes of tracepoints are not affected.
 *
 * Returns the number of events that match, or -EINVAL for a NULL or empty
 * pattern, -ENOTCONN for hodo_enable() while nothing records this process,
 * or another negative errno if code could not be patched. Objects opened
 * later follow the recorder's patterns.
 */
int hodo_enable(const char *pattern);
int hodo_disable(const char *pattern);

/*
 * Listen for `hodo record -p`, list, enable, disable and the like, from a
 * thread with all signals blocked that has a descriptor table of its own: the
 * program's descriptors are not touched, nor are the thread's seen or closed by
 * it. Only the same user and root are heard. The same as HODO_LISTEN=1 in the
 * environment. A fork child of a process that listens listens too. A program
 * that changes its user with PR_SET_KEEPCAPS listens only afterwards: the
 * thread has not the capability to follow, and libc would end the process.
 *
 * Returns 0, also if it listens already; -EPERM if the thread's descriptors
 * cannot be kept apart (Linux before 5.9, or a sandbox that refuses close_range(2)),
 * -ENAMETOOLONG or what socket(2), bind(2) and pthread_create(3) say.
 */
int hodo_listen(void);

/*
 * Start a flight recorder without anybody else: the newest events of each CPU
 * stay in a file, DIRECTORY/COMM-PID.flight, which `hodo recover` makes a trace
 * of at any time, also after SIGKILL. The same as HODO_FLIGHT and its kin in
 * the environment. Members that are 0 or NULL take their defaults.
 *
 * Returns 0; -EBUSY while this process is being recorded; -EINVAL for a size
 * of the wrong structure, buffers below 4 KiB or above 1 TiB, or events that are no patterns;
 * -ENOSPC, -EACCES and the like if the file cannot be made as a whole: its
 * room is taken at once.
 */
struct hodo_flight_options {
	size_t size;           /* sizeof(struct hodo_flight_options) */
	const char *directory; /* exists; NULL: the value of HODO_FLIGHT, else -EINVAL */
	uint64_t buffer_bytes; /* of each CPU, rounded up to a power of two; 1 MiB */
	const char *events;    /* patterns as in `hodo record -e`, separated by commas; all events */
};
int hodo_flight_start(const struct hodo_flight_options *options);

/*
 * End the recording of this process, whoever began it: a recorder writes what
 * there is and goes on with other processes, a flight recorder's file
 * stays. When it returns, no event is recorded any more. Returns 0, or
 * -ENOTCONN if nothing records this process; -EAGAIN if a thread has been inside an
 * event for two seconds: the recording is over then, too, but no other can begin before that thread goes on.
 */
int hodo_stop(void);

/*
 * Write what the flight recorder holds, and go on. why: a text of up to 79
 * bytes that stands in the trace, NULL: none.
 *
 * With `hodo record --overwrite` the recorder is asked, and writes some
 * milliseconds later; safe in signal handlers then. Else the flight recorder's
 * file is copied beside it, as COMM-PID.N.snapshot, before the function returns.
 * Returns the number of the snapshot, from 1; -ENOTCONN if nothing records this
 * process, -EOPNOTSUPP if the recording keeps everything already, or what
 * writing the copy says.
 */
int hodo_snapshot(const char *why);

/* What the present recording of this process has done so far. */
struct hodo_statistics {
	size_t size;          /* set by the caller: sizeof(struct hodo_statistics) */
	uint64_t events;      /* recorded, those overwritten since included */
	uint64_t bytes;       /* of packets that were begun, in all rings */
	uint64_t lost_full;   /* the buffer was full */
	uint64_t lost_large;  /* larger than a packet */
	uint64_t lost_busy;   /* threads without restartable sequences in each other's way */
	uint64_t limited;     /* over their rate */
	uint32_t known;       /* different events in the program */
	uint32_t enabled;     /* of them, those that are recorded */
	uint32_t threads;     /* that have traced */
	uint32_t recorder;    /* its pid; 0: a flight recorder, or not known */
	uint32_t flight;      /* 1: a flight recorder in a file */
	uint32_t snapshots;
};

/*
 * Fill what of *statistics its size has room for. Returns 0, -ENOTCONN if nothing
 * records this process (known is set all the same, all else 0), -EINVAL if size is below 24.
 */
int hodo_statistics(struct hodo_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
