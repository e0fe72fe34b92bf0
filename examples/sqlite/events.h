/* SPDX-License-Identifier: MIT */
/*
 * events.h - the tracepoints of SQLite itself: statements and file accesses.
 *
 * These are tracepoints rather than plain events, because the compiler then
 * checks their types wherever they are used, you can attach a probe to them, and
 * trace_X_enabled() says whether it is worth reading the clock.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <hodo/trace.h>
#include <stdint.h>
#include <time.h>

/* A statement has run to its end. */
HODO_TRACEPOINT(sqlite, statement, (const char *, sql), (uint64_t, duration_ns), (uint32_t, rows));

/* A file was read or written; result is SQLite's code, SQLITE_OK when all of it was. */
HODO_TRACEPOINT(vfs, read, (const char *, file), (int64_t, offset), (int, bytes), (uint64_t, duration_ns),
		(int, result));
HODO_TRACEPOINT(vfs, write, (const char *, file), (int64_t, offset), (int, bytes), (uint64_t, duration_ns),
		(int, result));

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
