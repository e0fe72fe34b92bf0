/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - a recording as a timeline, in one pass over its events in time order: tracks, slices of time on them,
 * instants, values over time. All formats that show timelines, and the HTML page, are made of it.
 *
 * Tracks: one for each thread that has events; one for each id-paired span's event class and process (their slices may
 * overlap); one for each counter; one for each CPU, if the kernel's sched_switch was recorded: which thread ran there.
 *
 * On a thread's track slices nest strictly: each end is that of the slice begun last and not ended. Where the program's
 * do not (coroutines, spans that are left by longjmp), slices above the one that ends are ended too, with
 * HODO_SLICE_SPLIT, and begun again at once, with HODO_SLICE_CONTINUED. One that has been split
 * HODO_TIMELINE_SPLITS_MAX times gets HODO_SLICE_LEFT instead, and does not begin again: n spans that end in the order
 * in which they began would have n * n / 2 pieces. Its end is one without a begin then.
 *
 * Where events were lost since it began, a span above the one that ends has lost its end, most likely: it gets
 * HODO_SLICE_END_LOST, and does not begin again. Of a kernel's folder, sys_enter_NAME to sys_exit_NAME is the span
 * "syscalls:NAME".
 *
 * Memory: what is open, and a bounded number of calls that are known at their end only; not the recording's size. What
 * is open is bounded too: with more than HODO_PAIRS_MAX spans open (read/pairs.h) the oldest is ended, as OPEN if it is
 * id-paired and else as LEFT.
 */
#ifndef HODO_EXPORT_TIMELINE_H
#define HODO_EXPORT_TIMELINE_H

#include "symbols.h"

enum hodo_track_kind { HODO_TRACK_THREAD, HODO_TRACK_ASYNC, HODO_TRACK_COUNTER, HODO_TRACK_CPU };

/* Lives until the timeline is freed. */
struct hodo_track {
	uint32_t id; /* 0, 1, … in the order in which they are reported */
	enum hodo_track_kind kind;
	const struct hodo_read_process *process; /* NULL: a CPU's */
	uint32_t pid;     /* as events have it: the process's, in the kernel's folder that of the thread's process */
	uint32_t tid;     /* THREAD */
	int32_t cpu;      /* CPU */
	const char *name; /* THREAD: the comm; ASYNC: "kv:request"; COUNTER: "kv:cache_bytes"; CPU: "CPU 3" */
	void *user;       /* the caller's */
};

enum hodo_slice_kind {
	HODO_SLICE_SPAN,    /* HODO_SPAN */
	HODO_SLICE_CALL,    /* a function's */
	HODO_SLICE_ASYNC,   /* HODO_BEGIN to HODO_END; on an ASYNC track */
	HODO_SLICE_RUNNING, /* a thread on a CPU; on a CPU track. Idle times have none */
};

#define HODO_SLICE_LEFT 1u      /* left by longjmp, an exception or the like; or its end is not known, as above */
#define HODO_SLICE_OPEN 2u      /* not over at the end of the recording */
#define HODO_SLICE_NO_EXIT 4u   /* a call whose exit cannot be seen: end_ns is begin_ns */
#define HODO_SLICE_END_LOST 8u  /* events were lost meanwhile, most likely its end too: it may have ended before */
#define HODO_SLICE_SPLIT 16u    /* ended only for the sake of nesting, … */
#define HODO_SLICE_CONTINUED 32u /* … and begun again */

/* From begin to end the same struct. */
struct hodo_slice {
	const struct hodo_track *track;
	struct hodo_slice *parent; /* that it is inside of on its track; NULL: of none. ASYNC: always NULL */
	enum hodo_slice_kind kind;
	uint32_t flags;
	uint32_t depth;   /* slices that it is inside of */
	const char *name; /* "kv:compact", "kv:request", a function's, RUNNING: the thread's comm. The timeline's */
	const struct hodo_read_class *cls; /* of the begin event; NULL: RUNNING */
	const struct hodo_place *place;    /* CALL: where the function is; else NULL. Lives until the end op returns */
	int64_t begin_ns; /* since the epoch; what begins later never begins before, but for calls known at their end */
	int64_t end_ns;   /* in the end op */
	uint64_t self_ns; /* in the end op: outside of slices inside of it */
	uint64_t earlier_ns, earlier_self_ns; /* CONTINUED: of the pieces before this one, added up */
	uint64_t id;      /* ASYNC: the number that pairs it, 0 if it is a text; RUNNING: the tid */
	uint64_t number;  /* ASYNC: 1, 2, … as they begin */
	/* ASYNC: of the threads where it began and, in the end op, ended; NULL: it is not over. */
	const struct hodo_track *began_on, *ended_on;
	uint32_t pid;     /* RUNNING: of the thread's process; else the track's */
	uint32_t sched_why; /* RUNNING, in the end op: enum hodo_sched_why */
	const struct hodo_sched_off *sched_off; /* RUNNING, in the end op: how it waited before; NULL: not known */
	void *user;       /* the caller's: set in begin, found again in end */
};

/*
 * Ops are called in the order in which things happen, but for calls that are known at their end only, whose begin and
 * end come together, outer ones before inner ones (begin) and inner ones first (end), when the outermost has ended.
 * Any may be NULL. One that returns non-zero ends the reading with that.
 */
struct hodo_timeline_ops {
	int (*track)(void *data, struct hodo_track *track); /* before anything on it */
	/* event: that it began with; NULL: none is at hand (CALL known at its end, RUNNING, CONTINUED) */
	int (*begin)(void *data, struct hodo_slice *slice, const struct hodo_read_event *event);
	/* once for each begin; event: that it ended with; NULL: none */
	int (*end)(void *data, struct hodo_slice *slice, const struct hodo_read_event *event);
	/* An event or mark that is none of a slice or counter, or an end without a begin, on its thread's track.
	 * depth: slices around it. */
	int (*instant)(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth);
	int (*counter)(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value);
	/* Each event, before it is any of the others. */
	int (*event)(void *data, const struct hodo_read_event *event);
	/* Where events are missing: all of them before any of the others. */
	int (*loss)(void *data, const struct hodo_read_loss *loss);
};

/* What HODO_SLICE_END_LOST is called where it is one of several named values: a call ends with its exit. */
static inline const char *hodo_slice_end_lost(const struct hodo_slice *slice)
{
	return slice->kind == HODO_SLICE_CALL ? "exit_lost" : "end_lost";
}

struct hodo_timeline;

struct hodo_timeline_totals {
	uint64_t events, slices, instants, values;
	uint64_t unpaired; /* ends of spans without a begin */
	int64_t begin_ns, end_ns; /* of the first and last event; 0: there is none */
};

/* symbols: names for functions; belongs to the caller, lives longer. NULL: no memory. */
struct hodo_timeline *hodo_timeline_new(struct hodo_read *reader, struct hodo_symbols *symbols,
					const struct hodo_timeline_ops *ops, void *data);
void hodo_timeline_free(struct hodo_timeline *timeline); /* NULL is allowed */
#define HODO_TIMELINE_DEPTH_MAX (1u << 16) /* of a thread; what is deeper is an instant */
#define HODO_TIMELINE_SPLITS_MAX 64u /* of a slice */
#define HODO_TIMELINE_TRACKS_MAX (1u << 18) /* threads beyond them share a track of their process, of tid 0 */

/* Reads all, from the first event to the last or the limits, once; the limits are known to the reader already, and
 * until_ns is 0 if there are none. 0, what an op returned, or a negative errno. */
int hodo_timeline_read(struct hodo_timeline *timeline, int64_t since_ns, int64_t until_ns);
void hodo_timeline_totals(const struct hodo_timeline *timeline, struct hodo_timeline_totals *totals);

#endif
