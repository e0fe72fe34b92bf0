/* SPDX-License-Identifier: MIT */
/* report.h - hodo report: what a recording says; of each function, and of threads' stacks, loops and roles. */
#ifndef HODO_CLI_REPORT_H
#define HODO_CLI_REPORT_H

#include "report_events.h"
#include <base/histogram.h>
#include <base/map.h>
#include <export/symbols.h>

/* A thread that is in a function at present. */
struct report_inside {
	uint64_t key; /* row << 32 | number of the thread */
	uint32_t n;   /* calls inside of each other */
};

struct report_call_thread {
	const struct hodo_read_process *process;
	uint64_t tid;
};

/* A call that is open. */
struct report_call {
	uint32_t row;
	bool nested; /* inside of another call of the function: its time is in that one's */
	bool away;
	struct report_call *next; /* free ones */
};

/* One function. Its times are of the calls that ended; open ones count in calls and open only. */
struct report_row {
	uint64_t id; /* hodo_place.id */
	const char *name, *object;
	uint64_t calls, left, open, no_exit;
	uint64_t ended, sum_ns, self_ns, min_ns, max_ns; /* sum_ns: of all */
	uint64_t total_ns; /* of those that are not inside of another call of the function */
	struct hodo_histogram times;
};

#define REPORT_ROWS_MAX (1u << 18) /* functions beyond them are one row, (others) */
#define REPORT_OTHERS 0u /* its id: no function's */
#define REPORT_CHAIN_MAX 64u
#define REPORT_LIST_MAX 1000u /* entries of each list below */
#define REPORT_SLOW_MAX 10u
#define REPORT_CALLEES_MAX 16u

struct report_chain {
	uint32_t n;
	const char *name[REPORT_CHAIN_MAX]; /* innermost first */
};

struct report_stack { /* the deepest of a thread */
	const struct hodo_read_process *process;
	uint32_t pid, tid, depth;
	const char *comm;
	uint64_t bytes;
	struct report_chain chain;
};

struct report_held {
	const char *callback, *loop;
	uint64_t times, total_ns, max_ns;
};

struct report_wrong {
	const char *name;
	char wanted[64], role[64];
	uint64_t times;
	struct report_chain chain;
};

struct report_callee {
	const char *name; /* NULL: all others */
	uint64_t calls, total_ns, max_ns;
};

struct report_slow { /* a call that was recorded with what it called */
	const char *name, *comm;
	uint32_t tid, ncallees;
	int64_t entry_ns;
	uint64_t duration_ns;
	struct report_callee callee[REPORT_CALLEES_MAX];
};

struct report {
	const char *dir, *thread;
	struct report_events events;
	struct hodo_read *r;
	struct hodo_symbols *symbols;
	struct hodo_read_calls *calls;
	struct hodo_read_calls_totals totals;
	struct hodo_map rows; /* struct report_row */
	struct report_stack *stacks;
	struct report_held *held;
	struct report_wrong *wrong, *last_wrong; /* last_wrong: what the last event was counted in; NULL: none */
	uint32_t nstacks, nheld, nwrong;
	struct report_slow slow[REPORT_SLOW_MAX]; /* longest first */
	uint32_t nslow;
	struct hodo_map inside; /* struct report_inside */
	struct hodo_map threads; /* struct report_call_thread, all of which is the key */
	struct report_call_thread thread_last; /* the last one that was looked up, and its number */
	uint32_t thread_number;
	struct report_call *free_calls;
	struct report_slow next; /* callees that came before their call */
	uint32_t next_frame;
	bool no_memory;
};

/* Reads all of it. 0, or the exit status, having said why. options live as long. */
int report_read(struct report *rep, const char *dir, const struct report_options *options);
void report_free(struct report *rep);
uint64_t report_ns(const struct hodo_read_process *p, uint64_t ticks);
double report_avg_ns(const struct report_row *row);
/* Percentiles within what was seen at the least and at the most. */
uint64_t report_time_at(const struct report_row *row, double q);

/* report_functions.c: 0 or -ENOMEM. */
extern const struct hodo_columns report_function_columns;
int report_put(struct hodo_text *to, const struct report *rep, const struct report_look *look);
int report_put_diff(struct hodo_text *to, const struct report *rep, const struct report *other,
		    const struct report_look *look);
bool report_empty(const struct report *rep);

/* report_lists.c */
void report_list_event(struct report *rep, const struct hodo_read_event *e);
void report_slow_call(struct report *rep, const struct hodo_read_call *call);
void report_put_lists(struct hodo_text *to, const struct report *rep);
void report_put_lists_json(struct hodo_json *j, const struct report *rep);

#endif
