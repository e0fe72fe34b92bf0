/* SPDX-License-Identifier: MIT */
/* series.h - what is wanted of a recording's statistics, and their rows: a series each, in groups if that is wanted. */
#pragma once

#include <base/arena.h>
#include <base/histogram.h>
#include <base/map.h>
#include <base/text.h>
#include <read/event/key.h>
#include <read/event/select.h>

/* ----------------------------------------------------------------------- options */

#define HODO_STATS_PAIRS_MAX      64u
#define HODO_STATS_VALUES_MAX     64u
#define HODO_STATS_KEY_FIELDS_MAX 4u

enum hodo_stats_by {
	HODO_STATS_BY_NONE, HODO_STATS_BY_THREAD, HODO_STATS_BY_CPU, HODO_STATS_BY_PROCESS, HODO_STATS_BY_HOST,
	HODO_STATS_BY_FIELD
};

/* What must be equal at the start and the end of a pair. */
#define HODO_STATS_KEY_THREAD  1u
#define HODO_STATS_KEY_CPU     2u
#define HODO_STATS_KEY_PROCESS 4u

struct hodo_stats_pair {
	char *begin; /* shares an allocation with the next two */
	const char *end;
	const char *by; /* as given; NULL: by thread */
	unsigned key;
	const char *field[HODO_STATS_KEY_FIELDS_MAX]; /* in fields */
	uint32_t nfields;
	char *fields;
};

struct hodo_stats_value {
	char *event;
	const char *field; /* in event */
};

struct hodo_stats_options {
	const struct hodo_select *select; /* whose events count; the reader gives those of all threads. NULL: all */
	enum hodo_stats_by by;
	const char *by_text; /* as given: thread, cpu, process, host or a field */
	struct hodo_stats_pair pairs[HODO_STATS_PAIRS_MAX];
	struct hodo_stats_value values[HODO_STATS_VALUES_MAX];
	uint32_t npairs, nvalues;
	uint64_t slowest; /* how many spans, and calls, are given one by one */
	bool json;        /* the slowest have their events in JSON, not the fields as text */
	bool compares;    /* with another recording, where what has a number has another: it goes by its name alone */
};

/* -------------------------------------------------------------------------- rows */

/*
 * A series is what is counted or measured: an event, a span or pair of events, a field, a way of waiting.
 * --by divides it into groups, which are numbered over all series. A row is a series and a group, 0 for none.
 */
enum hodo_stats_section {
	HODO_STATS_FUNCTIONS, /* which have separate rows, struct hodo_stats_function */
	HODO_STATS_EVENTS,
	HODO_STATS_SPANS,
	HODO_STATS_VALUES,
	HODO_STATS_RUNNING, /* threads on CPUs */
	HODO_STATS_OFF,     /* threads off their CPUs, by why */
	HODO_STATS_LATENCY, /* from wake-up to running */
	HODO_STATS_SECTIONS
};

#define HODO_STATS_OTHERS UINT32_MAX /* the group for everything beyond the bounds */

struct hodo_stats_series {
	struct hodo_bytes key; /* the section, and the name */
	enum hodo_stats_section section;
	const struct hodo_stats_pair *pair; /* of --pair; else NULL */
	bool seen[2];                   /* --pair: its start, its end was in the recording */
};

static inline const char *hodo_stats_series_name(const struct hodo_stats_series *series)
{
	return series->key.data + sizeof(uint64_t);
}

/* The beginning of each row: its key, the count, and the durations if it has any. */
struct hodo_stats_times {
	uint64_t key;
	uint64_t n, sum_ns, min_ns, max_ns;
	struct hodo_histogram *histogram; /* of the times or values; NULL: none, or too many rows */
};

/* false: no memory. measure: from now on with a histogram. */
bool series_times_measure(struct hodo_stats_times *times);
bool series_times_add(struct hodo_stats_times *times, uint64_t ns);
/* A quantile, within the observed minimum and maximum; 0: none. */
uint64_t hodo_stats_times_at(const struct hodo_stats_times *times, double q);
void series_times_free(struct hodo_stats_times *times); /* what it points to */

struct hodo_stats_row {
	struct hodo_stats_times times; /* of spans, those with begin and end */
	uint64_t begins, ends;     /* unpaired */
	uint64_t off_n, off_ns;    /* number of spans with known off-CPU time, and its sum */
	double sum, min, max, last; /* of numeric values, in the histogram */
};

static inline uint32_t hodo_stats_row_series(const struct hodo_stats_row *row)
{
	return (uint32_t)(row->times.key >> 32);
}

static inline uint32_t hodo_stats_row_group(const struct hodo_stats_row *row)
{
	return (uint32_t)row->times.key;
}

/* A thread and where it runs. */
struct hodo_stats_who {
	const struct hodo_read_process *process;
	const char *comm;
	uint32_t pid, tid;
	int32_t cpu;
};

struct hodo_stats_rows {
	const struct hodo_stats_options *o;
	struct hodo_map series;  /* struct hodo_stats_series, in the order in which they were made */
	struct hodo_map groups;  /* struct hodo_stats_group */
	struct hodo_map rows;    /* struct hodo_stats_row, by series << 32 | group */
	uint32_t recent[256];    /* a cache of row numbers, by the last digits of series and group */
	struct hodo_arena names; /* of groups */
	struct hodo_stats_row nowhere; /* a row for which there was no memory */
	struct hodo_text key;     /* of what is looked up */
	struct hodo_stats_last {
		struct hodo_stats_who who;
		uint32_t group; /* 0: none yet */
	} last[64];         /* groups of the last events' threads */
	uint32_t nmeasured; /* rows with a distribution */
	bool failed;        /* there was no memory: what was counted since is wrong */
	bool hosts;         /* the recording has several: CPUs are named with theirs */
	bool others;        /* there were too many groups */
	bool unmeasured;    /* there were too many rows that should have a distribution */
};

void series_start(struct hodo_stats_rows *r, const struct hodo_stats_options *o);
void series_free(struct hodo_stats_rows *r);
/* Names groups of threads and processes by their last names. */
void series_end(struct hodo_stats_rows *r);

/* The number of a series, created if necessary; whatever if that failed. */
uint32_t series_number(struct hodo_stats_rows *r, enum hodo_stats_section section, const char *name);
static inline struct hodo_stats_series *hodo_stats_series_at(const struct hodo_stats_rows *r, uint32_t number)
{
	return hodo_map_at(&r->series, number);
}

/* The group of a thread for --by; the thread itself if that is a field. */
uint32_t series_group_of(struct hodo_stats_rows *r, const struct hodo_stats_who *who);
/* The group of a field's value for --by. */
uint32_t series_group_of_value(struct hodo_stats_rows *r, const struct hodo_read_event *e, uint32_t field);
const char *hodo_stats_group_name(const struct hodo_stats_rows *r, uint32_t group); /* NULL: of none */

/* Created if necessary; valid until the next one is created. */
struct hodo_stats_row *series_row_slow(struct hodo_stats_rows *r, uint32_t series, uint32_t group);
static inline struct hodo_stats_row *series_row(struct hodo_stats_rows *r, uint32_t series, uint32_t group)
{
	uint32_t recent = r->recent[(series + 32 * group) % 256];
	struct hodo_stats_row *row = (struct hodo_stats_row *)r->rows.entries + recent;

	return recent < r->rows.n && row->times.key == ((uint64_t)series << 32 | group) ? row
		       : series_row_slow(r, series, group);
}
