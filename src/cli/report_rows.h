/* SPDX-License-Identifier: MIT */
/*
 * report_rows.h - hodo report, beside functions: rows of events, spans, values and scheduling.
 *
 * A series is what is counted or measured: an event, a span or pair of events, a field, a way of waiting. With --by it
 * falls into groups, which are numbered over all series. A row is a series and a group, 0 for none.
 */
#ifndef HODO_CLI_REPORT_ROWS_H
#define HODO_CLI_REPORT_ROWS_H

#include "report_options.h"
#include <base/arena.h>
#include <base/histogram.h>
#include <base/map.h>
#include <read/key.h>

enum report_section {
	REPORT_FUNCTIONS, /* which have rows of their own: report.h */
	REPORT_EVENTS,
	REPORT_SPANS,
	REPORT_VALUES,
	REPORT_RUNNING, /* threads on CPUs */
	REPORT_OFF,     /* … and off them, by why */
	REPORT_LATENCY, /* from wake-up to running */
	REPORT_SECTIONS
};

#define REPORT_NONE   UINT32_MAX        /* for a number: no memory */
#define REPORT_OTHERS (UINT32_MAX - 1u) /* the group of what is beyond the bounds */

struct report_series {
	struct hodo_bytes key; /* the section, and the name */
	enum report_section section;
	const struct report_pair *pair; /* of --pair; else NULL */
	bool seen[2];                   /* --pair: its begin, its end was in the recording */
	uint32_t group, row;            /* of the last event; row + 1, 0: there was none */
};

static inline const char *report_series_name(const struct report_series *series)
{
	return series->key.data + sizeof(uint64_t);
}

/* How each row begins: what it is found by, how many of it there were, and how long they took if they took time. */
struct report_times {
	uint64_t key;
	uint64_t n, sum_ns, min_ns, max_ns;
	struct hodo_histogram *histogram; /* of the times or values; NULL: none, or there are too many rows */
};

bool report_times_measure(struct report_times *times); /* from now on with a histogram; false: no memory */
bool report_times_add(struct report_times *times, uint64_t ns); /* false: no memory */
/* Within what was seen at the least and at the most; 0: there is none. */
uint64_t report_times_at(const struct report_times *times, double q);
void report_times_free(struct report_times *times); /* what it points to */

struct report_row {
	struct report_times times; /* of spans, those with begin and end */
	uint64_t begins, ends;     /* unpaired */
	double sum, min, max, last; /* of values that are numbers, in the histogram */
};

static inline uint32_t report_row_series(const struct report_row *row)
{
	return (uint32_t)(row->times.key >> 32);
}

static inline uint32_t report_row_group(const struct report_row *row)
{
	return (uint32_t)row->times.key;
}

/* A thread and where it runs. */
struct report_who {
	const struct hodo_read_process *process;
	const char *comm;
	uint32_t pid, tid;
	int32_t cpu;
};

#define REPORT_LAST 64u

struct report_rows {
	const struct report_options *o;
	struct hodo_map series;  /* struct report_series, in the order in which they were made */
	struct hodo_map groups;  /* struct report_group */
	struct hodo_map rows;    /* struct report_row, by series << 32 | group */
	struct hodo_arena names; /* of groups */
	struct hodo_key key;     /* of what is looked up */
	struct report_last {
		struct report_who who;
		uint32_t group; /* 0: none yet */
	} last[REPORT_LAST]; /* groups of the last events' threads */
	uint32_t nmeasured;  /* rows with a distribution */
	bool others;         /* there were too many groups */
	bool unmeasured;     /* … and rows that should have a distribution */
};

void report_rows_start(struct report_rows *r, const struct report_options *o);
void report_rows_free(struct report_rows *r);
/* Names groups of threads and processes by the last names that these had. 0 or -ENOMEM. */
int report_rows_end(struct report_rows *r);

/* The number of a series, made if need be, or NONE. */
uint32_t report_series(struct report_rows *r, enum report_section section, const char *name);
static inline struct report_series *report_series_at(const struct report_rows *r, uint32_t number)
{
	return (struct report_series *)r->series.entries + number;
}

/* The group of a thread, by what --by says: the thread itself if that is a field. NONE: no memory. */
uint32_t report_group_of(struct report_rows *r, const struct report_who *who);
/* … of a field's value. */
uint32_t report_group_of_value(struct report_rows *r, const struct hodo_read_event *e, uint32_t field);
const char *report_group_name(const struct report_rows *r, uint32_t group); /* NULL: of none */

static inline struct report_row *report_row_at(const struct report_rows *r, uint32_t number)
{
	return (struct report_row *)r->rows.entries + number;
}
static inline uint32_t report_row_number(const struct report_rows *r, const struct report_row *row)
{
	return (uint32_t)(row - (const struct report_row *)r->rows.entries);
}
struct report_row *report_row_find(struct report_rows *r, struct report_series *series, uint32_t group);
/* Made if need be; valid until the next one is. NULL: no memory. */
static inline struct report_row *report_row(struct report_rows *r, uint32_t series, uint32_t group)
{
	struct report_series *s = report_series_at(r, series);

	return s->row && s->group == group ? report_row_at(r, s->row - 1) : report_row_find(r, s, group);
}

#endif
