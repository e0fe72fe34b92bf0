/* SPDX-License-Identifier: MIT */
/* report.h - hodo report: what a recording says; of each function, and of threads' stacks, loops and roles. */
#ifndef HODO_CLI_REPORT_H
#define HODO_CLI_REPORT_H

#include "report_events.h"
#include "report_lists.h"
#include <base/intern.h>

/* One function. Its times are of the calls that ended; open ones count in calls and open only. */
struct report_function {
	struct report_times times; /* of hodo_place.id; where recordings are compared, of a number for each name */
	const char *name, *object;
	uint64_t calls, left, open, no_exit, self_ns;
	uint64_t total_ns; /* of those that are not inside of another call of the function */
};

struct report_thread {
	const struct hodo_read_process *process;
	uint64_t tid;
};

struct report {
	struct report_events events;
	struct report_lists lists;
	struct hodo_read *r;
	struct hodo_symbols *symbols;
	struct hodo_read_calls *calls;
	struct hodo_read_calls_totals totals;
	struct hodo_map functions;   /* struct report_function */
	struct hodo_strings names;   /* of functions, where recordings are compared */
	struct hodo_map inside;      /* struct report_inside */
	struct hodo_map threads;     /* struct report_thread, all of which is the key */
	struct report_thread thread; /* the last one that was looked up, and its number */
	uint32_t thread_number;
	struct hodo_arena all_calls; /* struct report_call */
	struct report_call *free_calls;
	bool no_memory;
};

/* Reads all of it. 0, or the exit status, having said why. options live as long. */
int report_read(struct report *rep, const char *dir, const struct report_options *options);
void report_free(struct report *rep);

/* report_tables.c */
extern const struct hodo_columns report_columns[REPORT_SECTIONS];
/* other: NULL, or what it is compared with. 0 or -ENOMEM. */
int report_put(struct hodo_text *to, const struct report *rep, const struct report *other,
	       const struct report_look *look);
bool report_empty(const struct report *rep);

#endif
