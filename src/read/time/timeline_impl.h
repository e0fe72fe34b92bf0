/* SPDX-License-Identifier: MIT */
/* timeline_impl.h - what the files of the timeline share. */
#pragma once

#include <read/event/runs.h>
#include "timeline.h"
#include "late_calls.h"
#include <read/event/losses.h>
#include <read/event/pairs.h>

#include <base/map.h>

/* An open slice. */
struct timeline_node {
	struct hodo_slice slice; /* first */
	struct hodo_place place;
	uint64_t inside_ns; /* of the slices inside of it */
	uint32_t level;     /* its index on its thread's stack */
	uint32_t splits;    /* how often it was split */
	uint32_t pair;      /* its number among start events that wait for their ends; TIMELINE_NO_PAIR: none */
	bool closed;        /* a call, whose slice ends before it does */
	struct timeline_node *next; /* free ones */
};
#define TIMELINE_NO_PAIR UINT32_MAX

struct timeline_thread {
	struct hodo_track track; /* first */
	struct timeline_process *process;
	struct timeline_node **stack;
	uint32_t nstack, room;
	int64_t latest_ns; /* the latest reported time */
	int64_t late_ns;   /* no late call's slice begins before it */
};

/* Kept by address. */
struct timeline_process {
	const struct hodo_read_process *pub;
};

/* What a thread is found by. */
struct timeline_thread_key {
	const struct timeline_process *process;
	uint64_t tid; /* UINT64_MAX: those beyond HODO_TIMELINE_TRACKS_MAX */
};

struct hodo_timeline {
	struct hodo_read *reader;
	struct hodo_places places;
	struct hodo_timeline_ops ops;
	void *data;
	struct hodo_read_calls *calls;
	struct hodo_runs *runs;
	struct hodo_timeline_totals totals;
	const struct hodo_read_event *event; /* at hand */
	int64_t now_ns, since_ns, until_ns;
	int error; /* what an op returned, or a negative errno */
	struct hodo_arena memory; /* of nodes and names */
	struct hodo_map processes;
	struct hodo_map threads; /* struct timeline_thread */
	struct hodo_map tracks;  /* struct hodo_track by its kind, and its host and CPU or the address of its name */
	struct timeline_process *last;
	struct timeline_thread *recent;
	uint32_t ntracks;
	uint64_t nasync;
	struct timeline_node *free;
};

/* timeline_tracks.c; NULL: error is set */
struct timeline_process *timeline_add_process(struct hodo_timeline *s, const struct hodo_read_process *pub);
struct timeline_process *timeline_process(struct hodo_timeline *s, const struct hodo_read_process *pub);
struct timeline_thread *timeline_thread(struct hodo_timeline *s, struct timeline_process *p, uint32_t pid,
					uint32_t tid, const char *comm);
/* The track of a counter or of id-paired spans, of a CPU. */
struct hodo_track *timeline_track(struct hodo_timeline *s, enum hodo_track_kind kind,
				  const struct hodo_read_process *process, const char *name);
struct hodo_track *timeline_cpu(struct hodo_timeline *s, const struct hodo_read_process *kernel, int32_t cpu);
void timeline_instant(struct hodo_timeline *s, struct timeline_thread *t, bool unpaired); /* the event at hand */
void timeline_fail(struct hodo_timeline *s, int error);

/* timeline_slices.c */
void timeline_begin(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event);
void timeline_pop(struct hodo_timeline *s, struct timeline_thread *t, struct timeline_node *node, int64_t end_ns,
		  uint32_t flags, const struct hodo_read_event *event);
/* Frees it, unless it is closed and its call's end is yet to come. */
void timeline_end(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event);
struct timeline_node *timeline_node(struct hodo_timeline *s); /* NULL: error is set */

/* For the current event, which begins or ends a span, a system call or an id-paired span */
void timeline_span_begin(struct hodo_timeline *s, struct timeline_thread *t);
void timeline_span_end(struct hodo_timeline *s, struct timeline_thread *t);
void timeline_give_up(void *timeline, uintptr_t node, int64_t ts_ns, bool given_up); /* of hodo_read_pairs() */

int timeline_calls_open(struct hodo_timeline *s); /* 0 or -ENOMEM */
