/* SPDX-License-Identifier: MIT */
/* report_events.h - hodo report: from events to the rows of events, spans, values and scheduling. */
#ifndef HODO_CLI_REPORT_EVENTS_H
#define HODO_CLI_REPORT_EVENTS_H

#include "report_rows.h"
#include <export/scheduling.h>
#include <read/losses.h>
#include <read/pairs.h>

struct report_class;

/* What is said beside the tables. */
struct report_findings {
	uint64_t dropped;      /* begins, as too many waited */
	uint64_t unsure_times; /* on or off CPUs: they reach over lost events, and do not count */
	uint64_t unsure_spans; /* that do, and count */
	uint64_t values;       /* bits: --values of a number were there */
	bool by;               /* an event has the field of --by */
};

struct report_events {
	const struct report_options *o;
	struct report_rows rows;
	struct hodo_map classes; /* struct report_class */
	uint32_t last[REPORT_LAST]; /* classes of the last events, by id: their numbers + 1 */
	struct hodo_pairs *pairs;
	struct hodo_losses *losses;
	struct hodo_sched *sched;
	struct {
		const struct hodo_read_process *kernel; /* of the last event */
		uint32_t running, latency, off[HODO_SCHED_UNKNOWN + 1]; /* series */
	} cpus;
	struct report_who asked;                /* the thread of the last event */
	bool wanted;                            /* it is --thread's */
	struct report_findings findings;
	uint64_t events;
	int64_t begin_ns, end_ns; /* of the first and the last event, whatever --thread says; 0: there is none */
	bool no_memory;
};

int report_events_start(struct report_events *ev, const struct report_options *o); /* 0 or -ENOMEM */
/* Each event; of functions' only the times count. 0 or -ENOMEM. */
int report_events_take(struct report_events *ev, const struct hodo_read_event *e);
int report_events_end(struct report_events *ev); /* 0 or -ENOMEM */
void report_events_free(struct report_events *ev);
/* Says what was asked for and is not in the recording. */
void report_events_warn(const struct report_events *ev, const char *dir);

#endif
