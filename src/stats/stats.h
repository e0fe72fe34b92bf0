/* SPDX-License-Identifier: MIT */
/*
 * stats.h - the statistics of a recording: counts, times and distributions of its functions, events, spans, values and
 * threads, and what stands out one by one.
 */
#pragma once

#include <base/intern.h>

#include "events.h"
#include "lists.h"
#include "slowest.h"

/*
 * One function. Its times are of the calls that ended; others only count in calls and in open, exit_lost or
 * no_exit.
 */
struct hodo_stats_function {
	struct hodo_stats_times times; /* key: hodo_place.id; if recordings are compared, a number for each name */
	const char *name, *object;
	uint64_t calls, left, open, exit_lost, no_exit, self_ns;
	uint64_t total_ns; /* of calls not inside another call of the function */
};

/* All zero before hodo_stats_read(). */
struct hodo_stats {
	struct hodo_stats_events events;
	struct hodo_stats_lists lists;
	struct hodo_stats_slowest slowest;
	struct hodo_read *r;
	struct hodo_symbols *symbols;
	struct hodo_read_calls *calls;
	struct hodo_read_calls_totals totals;
	struct hodo_map functions;   /* struct hodo_stats_function */
	struct hodo_strings names;   /* of functions, if recordings are compared */
	struct hodo_map inside;      /* struct hodo_stats_inside */
	struct hodo_arena all_calls; /* struct hodo_stats_call */
	struct hodo_stats_call *free_calls;
};

/* Reads all of it. 0 or a negative errno. The reader, its symbols and options must live as long; *s is to be freed in
 * any case. */
int hodo_stats_read(struct hodo_stats *s, struct hodo_read *reader, struct hodo_symbols *symbols,
		    const struct hodo_stats_options *options);
void hodo_stats_free(struct hodo_stats *s);
