/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - a recording as a timeline, in one pass over its events in time order: tracks, slices of time on them,
 * instants, values over time. All formats that show timelines, the HTML page, and tables of spans and calls
 * (slice_rows.h) are based on it.
 *
 * Tracks: one for each thread that has events; one for each id-paired span's event class and process (their slices may
 * overlap); one for each counter; one for each CPU, with the thread that ran there, if the kernel's
 * sched_switch was recorded.
 *
 * On a thread's track slices nest strictly: each end is that of the latest slice begun and not ended. If the
 * program's do not (coroutines, spans left by longjmp), slices above the one that ends also end, with
 * HODO_SLICE_SPLIT, and begin again at once, with HODO_SLICE_CONTINUED. One that was split
 * HODO_TIMELINE_SPLITS_MAX times gets HODO_SLICE_LEFT instead, and does not begin again: n spans that end in
 * the order in which they began would have n * n / 2 pieces. Its end is then one without a start event.
 *
 * If events were lost since it began, a span above the one that ends has probably lost its end: it gets
 * HODO_SLICE_END_LOST, and does not begin again. In a kernel's folder, sys_enter_NAME to sys_exit_NAME is the
 * span "syscalls:NAME".
 *
 * Memory: for open slices, and a bounded number of late calls (late_calls.h); it does not depend on the
 * recording's size. Open slices are bounded, too: beyond HODO_PAIRS_MAX open spans (read/event/pairs.h), the oldest
 * ends, as OPEN if it is id-paired and else as LEFT.
 */
#pragma once

#include <read/text/place.h>

enum hodo_track_kind { HODO_TRACK_THREAD, HODO_TRACK_ASYNC, HODO_TRACK_COUNTER, HODO_TRACK_CPU };

/* Lives until the timeline is freed. */
struct hodo_track {
	uint32_t id; /* 0, 1, … in the order reported */
	enum hodo_track_kind kind;
	const struct hodo_read_process *process; /* NULL: a CPU's */
	uint32_t pid;     /* as in events: the process's, in the kernel's folder that of the thread's process */
	uint32_t tid;     /* THREAD */
	int32_t cpu;      /* CPU */
	const struct hodo_read_process *kernel; /* CPU: of its host; else NULL */
	/* THREAD: the comm; ASYNC: "kv:request"; COUNTER: "kv:cache_bytes"; CPU: "CPU 3", or of several hosts "web1 CPU
	 * 3" */
	const char *name;
	void *user;       /* the caller's */
};

enum hodo_slice_kind {
	HODO_SLICE_SPAN,    /* HODO_SPAN */
	HODO_SLICE_CALL,    /* a function's */
	HODO_SLICE_ASYNC,   /* HODO_BEGIN to HODO_END; on an ASYNC track */
	HODO_SLICE_RUNNING, /* a thread on a CPU; on a CPU track. Idle times have none */
};

#define HODO_SLICE_LEFT 1u      /* left by longjmp, an exception or the like; or its end is not known */
#define HODO_SLICE_OPEN 2u      /* not over at the end of the recording */
#define HODO_SLICE_NO_EXIT 4u   /* a call whose exit cannot be seen: end_ns is begin_ns */
#define HODO_SLICE_END_LOST 8u  /* events were lost meanwhile, most likely its end too: it may have ended before */
#define HODO_SLICE_SPLIT 16u    /* ended only because of nesting */
#define HODO_SLICE_CONTINUED 32u /* begun again after it was split */

/* A slice: its begin op and its end op get the same struct. */
struct hodo_slice {
	const struct hodo_track *track;
	struct hodo_slice *parent; /* the enclosing slice on its track, or NULL. ASYNC: always NULL */
	enum hodo_slice_kind kind;
	uint32_t flags;
	uint32_t depth;   /* number of enclosing slices */
	const char *name; /* "kv:compact", "kv:request", a function's, NULL if nobody knows it; RUNNING: the thread's
			   * comm. The timeline's */
	const struct hodo_read_class *cls; /* of the start event; NULL: RUNNING */
	uint64_t function;                 /* CALL: an address in it */
	const struct hodo_place *place;    /* CALL: where the function is; else NULL. Lives until the last op of the
					    * slice returns */
	int64_t begin_ns; /* since the epoch; never decreases, except for late calls */
	int64_t end_ns;   /* in the end op */
	uint64_t self_ns; /* in the end op: without the slices inside it */
	uint64_t earlier_ns, earlier_self_ns; /* CONTINUED: total of the earlier pieces */
	uint64_t id;      /* ASYNC: the number that pairs it, 0 if it is a text; RUNNING: the tid */
	uint64_t number;  /* ASYNC: 1, 2, … as they begin */
	/* ASYNC: tracks of the threads where it began and, in the end op, ended; NULL: it is not over. */
	const struct hodo_track *began_on, *ended_on;
	uint32_t pid;     /* RUNNING: of the thread's process; else the track's */
	uint32_t sched_why; /* RUNNING, in the end op: enum hodo_sched_why */
	const struct hodo_sched_off *sched_off; /* RUNNING, in the end op: how it waited before; NULL: not known */
	void *user;       /* the caller's: set in begin, found again in end */
	void *whole;      /* the caller's, as user; kept when the slice goes on after it was split */
};

/*
 * Ops are called in order of time, except for late calls: their begin and end come when the
 * outermost has ended, outer ones first (begin) and inner ones first (end). Any may be
 * NULL. A non-zero result ends the reading with it.
 */
struct hodo_timeline_ops {
	int (*track)(void *data, struct hodo_track *track); /* before anything on it */
	/* event: its start; NULL: none (of a late call, RUNNING, CONTINUED) */
	int (*begin)(void *data, struct hodo_slice *slice, const struct hodo_read_event *event);
	/* once for each begin; event: that it ended with; NULL: none */
	int (*end)(void *data, struct hodo_slice *slice, const struct hodo_read_event *event);
	/* What hodo report shows of a call, whose slice is over: the slice's times can differ, since slices nest. */
	int (*call)(void *data, struct hodo_slice *slice, const struct hodo_read_call *call);
	/* An event or mark not of a slice or counter, or an end without a start event, on its thread's track.
	 * depth: slices around it. */
	int (*instant)(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth);
	int (*counter)(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value);
	/* Each event, before it is any of the others. */
	int (*event)(void *data, const struct hodo_read_event *event);
	/* Where events are missing: all of these before any other op. */
	int (*loss)(void *data, const struct hodo_read_loss *loss);
	bool no_cpus; /* RUNNING is not wanted */
};

/* The name of HODO_SLICE_END_LOST as one of several values: for a call, the exit is lost. */
static inline const char *hodo_slice_end_lost(const struct hodo_slice *slice)
{
	return slice->kind == HODO_SLICE_CALL ? "exit_lost" : "end_lost";
}

struct hodo_timeline;

struct hodo_timeline_totals {
	uint64_t events, slices, instants, values;
	uint64_t unpaired; /* ends of spans without a start event */
	int64_t begin_ns, end_ns; /* of the first and last event; 0: there is none */
};

/* places: names for functions, which live longer. NULL: no memory. */
struct hodo_timeline *hodo_timeline_new(struct hodo_read *reader, struct hodo_places places,
					const struct hodo_timeline_ops *ops, void *data);
void hodo_timeline_free(struct hodo_timeline *timeline); /* NULL is allowed */
#define HODO_TIMELINE_DEPTH_MAX (1u << 16) /* of a thread; deeper ones are instants */
#define HODO_TIMELINE_SPLITS_MAX 64u /* of a slice */
#define HODO_TIMELINE_TRACKS_MAX (1u << 18) /* further threads share a track of their process, with tid 0 */

/* Reads everything, from the first event to the last or the limits, once; the limits are already set in the
 * reader, and until_ns is 0 if there are none. 0, an op's result, or a negative errno. */
int hodo_timeline_read(struct hodo_timeline *timeline, int64_t since_ns, int64_t until_ns);
/* hodo_timeline_read() in steps: start returns 0 or what went wrong, next takes an event and returns 1; 0: there are
 * no more, and what was open has ended. */
int hodo_timeline_start(struct hodo_timeline *timeline, int64_t since_ns, int64_t until_ns);
int hodo_timeline_next(struct hodo_timeline *timeline);
/* As next, but at 0 nothing ends: the reader follows a recording (read/file/follow.h), and there may be more later. */
int hodo_timeline_more(struct hodo_timeline *timeline);
void hodo_timeline_totals(const struct hodo_timeline *timeline, struct hodo_timeline_totals *totals);
