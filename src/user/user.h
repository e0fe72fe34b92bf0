/* SPDX-License-Identifier: MIT */
/*
 * user.h - the recording, as all parts of libhodo see it. Hidden in the library; the public side is <hodo/trace.h> and
 * <hodo/control.h>. Each folder has a header for what it does: event/event.h, ring/rings.h, process/process.h,
 * objects/objects.h, talk/talk.h, flight/flight.h, libc/libc.h.
 *
 * Locking: hodo_control_lock() (process/lock.c) guards the registry, the sites and the recording's state; it is held
 * with all signals blocked, taken after the loader's lock where both are held, and never by a writer. The writers' own
 * exclusion is described in core/ring.h.
 */
#pragma once

#include <arch/writer.h>
#include <core/atomic.h>
#include <core/config.h>
#include <core/ring.h>
#include <hodo/abi.h>
#include <stdbool.h>

struct hodo_recording {
	bool on;               /* a recorder has this process's buffers, or they are our own file */
	bool awaits_start;            /* no event is recorded before a start trigger */
	bool stopped;          /* a stop trigger was met: no more events are recorded */
	bool waits;            /* writers wait for room in a full ring (wait.c) */
	bool semaphores;       /* the program has some: HODO_WANTS_GUARD */
	uint32_t by;           /* enum hodo_recorded_by */
	uint32_t recorder;     /* its pid, 0: not known */
	struct hodo_layout layout;
	struct hodo_ring_config ring;
	uint8_t *shm;          /* NULL: none */
	struct hodo_view *views; /* a table (writer.h); wiped in a fork child */
	struct hodo_msg_config config; /* as far as its texts go */
};
extern HODO_SHARED struct hodo_recording hodo_recording;

/* Rings by their number: of a CPU, or the fallback ring's, which is the last. */
static inline uint32_t hodo_fallback_number(void) { return hodo_recording.layout.rings - 1; }
static inline struct hodo_view *hodo_view_of(uint32_t ring)
{
	return &hodo_recording.views[ring == hodo_fallback_number() ? HODO_VIEWS : ring];
}
static inline struct hodo_ring *hodo_ring_of(uint32_t ring)
{
	return (struct hodo_ring *)(hodo_recording.shm + hodo_layout_ring(ring));
}
extern HODO_SHARED uint32_t hodo_zero_on; /* stays 0 */

static inline struct hodo_shm *hodo_shm(void) { return (struct hodo_shm *)hodo_recording.shm; }
static inline uint32_t *hodo_on_words(void) { return (uint32_t *)(hodo_recording.shm + HODO_SHM_ON); }

/* A semaphore may be raised while there is a recording, this one or another. Under the control lock. */
static inline void hodo_want_guard(void)
{
	hodo_recording.semaphores = true;
	if (hodo_recording.on && !(hodo_load(&hodo_shm()->wants) & HODO_WANTS_GUARD))
		__atomic_fetch_or(&hodo_shm()->wants, HODO_WANTS_GUARD, __ATOMIC_RELAXED);
}

/* state.c, both. Adds a thread to the recording's table; comm: NUL-terminated. Signal safe. */
HODO_HIDDEN void hodo_thread_add(uint32_t tid, const char *comm);
/* In a section: asks for a snapshot; its number, 0: there is no recording. why may be NULL. */
HODO_HIDDEN uint32_t hodo_snapshot_want(const char *why);
