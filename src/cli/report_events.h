/* SPDX-License-Identifier: MIT */
/*
 * report_events.h - hodo report, beside functions: rows of events, spans, values and scheduling.
 *
 * A series is what is counted or measured: an event, a span or pair of events, a field, a way of waiting. A row is a
 * series, or with --by one of the groups that it falls into.
 */
#ifndef HODO_CLI_REPORT_EVENTS_H
#define HODO_CLI_REPORT_EVENTS_H

#include "report_numbers.h"
#include "table.h"
#include <base/histogram.h>
#include <base/map.h>
#include <export/scheduling.h>
#include <read/losses.h>
#include <read/pairs.h>

#define REPORT_PAIRS_MAX      64u
#define REPORT_VALUES_MAX     64u
#define REPORT_KEY_FIELDS_MAX 4u

enum report_section {
	REPORT_EVENTS,
	REPORT_SPANS,
	REPORT_VALUES,
	REPORT_RUNNING, /* threads on CPUs */
	REPORT_OFF,     /* … and off them, by why */
	REPORT_LATENCY, /* from wake-up to running */
	REPORT_SECTIONS
};

enum report_by { REPORT_BY_NONE, REPORT_BY_THREAD, REPORT_BY_CPU, REPORT_BY_PROCESS, REPORT_BY_FIELD };

/* What is the same at the begin and the end of a pair. */
#define REPORT_KEY_THREAD  1u
#define REPORT_KEY_CPU     2u
#define REPORT_KEY_PROCESS 4u

struct report_pair {
	char *begin, *end;
	char *by; /* as given; NULL: by thread */
	unsigned key;
	const char *field[REPORT_KEY_FIELDS_MAX]; /* in fields */
	uint32_t nfields;
	char *fields;
};

struct report_value {
	char *event;
	const char *field; /* in event */
};

/* What is asked for. */
struct report_options {
	struct hodo_args args;
	enum report_by by;
	const char *by_field;
	struct report_pair pairs[REPORT_PAIRS_MAX];
	struct report_value values[REPORT_VALUES_MAX];
	uint32_t npairs, nvalues;
	bool diff; /* what has another number in another recording goes by its name alone */
};

/* "A,B" or "A,B by KEY,…". 0, -EINVAL, -ENOMEM. */
int report_pair_parse(struct report_pair *pair, const char *text);
int report_value_parse(struct report_value *value, const char *text);
void report_options_free(struct report_options *o);

#define REPORT_LAST_ROWS 8u

struct report_series {
	enum report_section section;
	const char *name;
	const struct report_pair *pair; /* of --pair; else NULL */
	bool seen[2];                   /* --pair: its begin, its end was in the recording */
	uint32_t row;                   /* the one without a group, + 1; 0: there is none yet */
	struct report_last {
		const struct hodo_read_process *process;
		uint32_t pid, tid;
		int32_t cpu;
		uint32_t row; /* + 1; 0: there is none */
	} last[REPORT_LAST_ROWS]; /* of the last events, by thread, CPU or process */
};

struct report_stat {
	uint32_t series;
	char *group; /* NULL: not split, or by what the event does not have */
	uint32_t tid;  /* of the thread that the group has its name from, of the kernel or a process; 0: of none */
	uint32_t name; /* its number in names + 1, where it is at hand; else 0 */
	uint64_t count;   /* of events; of spans, those with begin and end */
	uint64_t begins;  /* unpaired */
	uint64_t ends;    /* … */
	uint64_t sum_ns, min_ns, max_ns;
	struct hodo_histogram *times; /* NULL: none, or there are too many rows */
	struct report_numbers *numbers;
};

/* The name of a thread, the last one that was seen. */
struct report_name {
	uint64_t tid;
	const char *comm;
};

/* The row of a number: of a thread, or with --by process of a process. */
struct report_number {
	uint64_t key; /* its series, and the number */
	uint32_t row;
};

struct report_rows {
	struct report_series *series;
	struct hodo_map series_keys; /* section and name, in the order of the series */
	struct report_stat *all;
	struct hodo_map keys;  /* series and group, in the order of the rows */
	struct hodo_map numbers; /* struct report_number: rows of threads, at hand */
	struct hodo_map names; /* struct report_name */
	struct report_name noted; /* the name that was noted last; tid 0: none */
	uint32_t nseries, series_room, n, room;
	uint32_t nmeasured; /* with times or numbers */
	bool others;        /* there were too many groups */
	bool unmeasured;    /* … and rows with times or numbers */
};

struct report_class;

struct report_classes {
	struct hodo_map all; /* struct report_class */
	struct report_class *last;
};

/* Threads on CPUs and off them. */
struct report_sched {
	struct hodo_sched *sched;
	const struct hodo_read_process *process; /* the kernel's */
	uint32_t running, latency, off[HODO_SCHED_UNKNOWN + 1]; /* series; 0: not yet, else + 1 */
};

/* The answer to --thread for the thread of the last event. */
struct report_thread {
	const struct hodo_read_process *process;
	const char *comm;
	uint32_t tid;
	bool wanted;
};

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
	struct report_classes classes;
	struct hodo_key key; /* of what is looked up */
	struct hodo_pairs *pairs;
	struct hodo_losses *losses;
	struct report_sched sched;
	struct report_thread thread;
	struct report_findings findings;
	uint64_t events;
	int64_t begin_ns, end_ns; /* of the first and the last event, whatever --thread says; 0: there is none */
	bool no_memory;
};

/* report_events.c */
int report_events_start(struct report_events *ev, const struct report_options *o); /* 0 or -ENOMEM */
/* Each event; of functions' only the times count. 0 or -ENOMEM. */
int report_events_take(struct report_events *ev, const struct hodo_read_event *e);
int report_events_end(struct report_events *ev); /* 0 or -ENOMEM */
void report_events_free(struct report_events *ev);
/* Says what was asked for and is not in the recording. */
void report_events_warn(const struct report_events *ev, const char *dir);

/* report_rows.c */
#define REPORT_NONE UINT32_MAX
/* Indices; REPORT_NONE: no memory. */
uint32_t report_series(struct report_events *ev, enum report_section section, const char *name, size_t len);
uint32_t report_row_plain(struct report_events *ev, uint32_t series);
/* field: the event's place of --by's; -1: it has none. */
uint32_t report_row_of(struct report_events *ev, uint32_t series, const struct hodo_read_event *e, int field);
/* Of a thread of the kernel's recording. */
uint32_t report_row_thread(struct report_events *ev, uint32_t series, uint32_t tid, uint32_t pid, const char *comm,
			   int32_t cpu);
/* Names groups of threads and processes by the last names that these had. 0 or -ENOMEM. */
int report_rows_rename(struct report_events *ev);
void report_add_time(struct report_events *ev, uint32_t row, uint64_t ns);
void report_add_number(struct report_events *ev, uint32_t row, double number, bool whole);
uint64_t report_stat_at(const struct report_stat *row, double q);
double report_stat_avg(const struct report_stat *row);

/* How it is shown. */
struct report_look {
	struct hodo_look table;
	bool histogram;
	const char *histogram_of; /* a glob for names; NULL: all */
};
bool report_histogram_wanted(const struct report_look *look, const char *name);

/* report_sections.c: each 0 or -ENOMEM. */
extern const struct hodo_columns report_sections[REPORT_SECTIONS];
int report_put_sections(struct hodo_text *to, const struct report_events *ev, const struct report_look *look,
			bool first); /* nothing stands above */
int report_put_sections_json(struct hodo_json *j, const struct report_events *ev, const struct report_look *look);
/* As text, or as JSON if that is what the look says. */
int report_put_sections_diff(struct hodo_text *to, struct hodo_json *j, const struct report_events *before,
			     const struct report_events *after, const struct report_look *look, bool first);

#endif
