/* SPDX-License-Identifier: MIT */
/* events.h - events, spans, pairs, values and scheduling of a recording, in rows. */
#pragma once

#include <read/event/pairs.h>
#include <read/event/runs.h>

#include "series.h"

/* Notes besides the tables. */
struct hodo_stats_findings {
	uint64_t dropped;      /* start events, because too many were waiting */
	uint64_t unsure_times; /* on or off CPUs: they contain lost events, and do not count */
	uint64_t unsure_spans; /* that contain lost events, but count */
	uint64_t values;       /* bits: which --values had numbers */
	bool by;               /* an event has the field of --by */
};

struct hodo_stats_events {
	const struct hodo_stats_options *o;
	struct hodo_stats_rows rows;
	struct hodo_map classes; /* struct seen_class */
	uint32_t recent[256];    /* a cache of their numbers, by the last digits of ids */
	struct hodo_read *r;
	struct hodo_pairs *pairs; /* of --pair; others are the reader's */
	struct hodo_runs *runs;
	struct {
		uint32_t running, latency, off[HODO_SCHED_UNKNOWN + 1]; /* series */
	} cpus;
	struct hodo_stats_findings findings;
	uint64_t events;
	int64_t begin_ns, end_ns; /* of the first and the last event, regardless of --thread; 0: none */
};

/* These return 0 or a negative errno. */
int events_start(struct hodo_stats_events *ev, const struct hodo_stats_options *o, struct hodo_read *r);
/* Takes each event; of functions' only the times count. */
int events_take(struct hodo_stats_events *ev, const struct hodo_read_event *e);
int events_end(struct hodo_stats_events *ev);
void events_free(struct hodo_stats_events *ev);
