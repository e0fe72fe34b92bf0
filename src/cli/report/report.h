/* SPDX-License-Identifier: MIT */
/* report.h - hodo report: what a recording says. */
#ifndef HODO_CLI_REPORT_REPORT_H
#define HODO_CLI_REPORT_REPORT_H

#include <cli/output/table.h>
#include <base/arena.h>
#include <base/histogram.h>
#include <base/intern.h>
#include <read/event/runs.h>
#include <sym/recording_symbols.h>
#include <read/event/key.h>
#include <read/event/losses.h>
#include <read/event/pairs.h>

/* ----------------------------------------------------------------------- options */

#define REPORT_PAIRS_MAX      64u
#define REPORT_VALUES_MAX     64u
#define REPORT_KEY_FIELDS_MAX 4u

enum report_by { REPORT_BY_NONE, REPORT_BY_THREAD, REPORT_BY_CPU, REPORT_BY_PROCESS, REPORT_BY_HOST,
		 REPORT_BY_FIELD };

/* What must be equal at the begin and the end of a pair. */
#define REPORT_KEY_THREAD  1u
#define REPORT_KEY_CPU     2u
#define REPORT_KEY_PROCESS 4u

struct report_pair {
	char *begin; /* shares an allocation with the next two */
	const char *end;
	const char *by; /* as given; NULL: by thread */
	unsigned key;
	const char *field[REPORT_KEY_FIELDS_MAX]; /* in fields */
	uint32_t nfields;
	char *fields;
};

struct report_value {
	char *event;
	const char *field; /* in event */
};

struct report_options {
	struct hodo_args args;
	enum report_by by;
	const char *by_text; /* as given: thread, cpu, process, host or a field */
	struct report_pair pairs[REPORT_PAIRS_MAX];
	struct report_value values[REPORT_VALUES_MAX];
	uint32_t npairs, nvalues;
	const char *diff; /* the other recording, in which what has a number has another: it goes by its name alone */
	bool histogram;
	const char *histogram_of; /* a glob for names; NULL: all */
};

/* -------------------------------------------------------------------------- rows */

/*
 * A series is what is counted or measured: an event, a span or pair of events, a field, a way of waiting.
 * --by divides it into groups, which are numbered over all series. A row is a series and a group, 0 for none.
 */
enum report_section {
	REPORT_FUNCTIONS, /* which have separate rows, struct report_function */
	REPORT_EVENTS,
	REPORT_SPANS,
	REPORT_VALUES,
	REPORT_RUNNING, /* threads on CPUs */
	REPORT_OFF,     /* … and off them, by why */
	REPORT_LATENCY, /* from wake-up to running */
	REPORT_SECTIONS
};

#define REPORT_OTHERS UINT32_MAX /* the group for everything beyond the bounds */

struct report_series {
	struct hodo_bytes key; /* the section, and the name */
	enum report_section section;
	const struct report_pair *pair; /* of --pair; else NULL */
	bool seen[2];                   /* --pair: its begin, its end was in the recording */
};

static inline const char *report_series_name(const struct report_series *series)
{
	return series->key.data + sizeof(uint64_t);
}

/* The beginning of each row: its key, the count, and the durations if it has any. */
struct report_times {
	uint64_t key;
	uint64_t n, sum_ns, min_ns, max_ns;
	struct hodo_histogram *histogram; /* of the times or values; NULL: none, or too many rows */
};

void report_times_measure(struct report_times *times); /* from now on with a histogram */
void report_times_add(struct report_times *times, uint64_t ns);
/* A quantile, within the observed minimum and maximum; 0: none. */
uint64_t report_times_at(const struct report_times *times, double q);
void report_times_free(struct report_times *times); /* what it points to */

struct report_row {
	struct report_times times; /* of spans, those with begin and end */
	uint64_t begins, ends;     /* unpaired */
	uint64_t off_n, off_ns;    /* number of spans with known off-CPU time, and its sum */
	double sum, min, max, last; /* of numeric values, in the histogram */
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

struct report_rows {
	const struct report_options *o;
	struct hodo_map series;  /* struct report_series, in the order in which they were made */
	struct hodo_map groups;  /* struct report_group */
	struct hodo_map rows;    /* struct report_row, by series << 32 | group */
	uint32_t recent[256];    /* a cache of row numbers, by the last digits of series and group */
	struct hodo_arena names; /* of groups */
	struct hodo_text key;     /* of what is looked up */
	struct report_last {
		struct report_who who;
		uint32_t group; /* 0: none yet */
	} last[64];         /* groups of the last events' threads */
	uint32_t nmeasured; /* rows with a distribution */
	bool hosts;         /* the recording has several: CPUs are named with theirs */
	bool others;        /* there were too many groups */
	bool unmeasured;    /* … or rows that should have a distribution */
};

void report_rows_start(struct report_rows *r, const struct report_options *o);
void report_rows_free(struct report_rows *r);
/* Names groups of threads and processes by their last names. */
void report_rows_end(struct report_rows *r);

/* The number of a series, created if necessary. */
uint32_t report_series(struct report_rows *r, enum report_section section, const char *name);
static inline struct report_series *report_series_at(const struct report_rows *r, uint32_t number)
{
	return hodo_map_at(&r->series, number);
}

/* The group of a thread for --by; the thread itself if that is a field. */
uint32_t report_group_of(struct report_rows *r, const struct report_who *who);
/* … of a field's value. */
uint32_t report_group_of_value(struct report_rows *r, const struct hodo_read_event *e, uint32_t field);
const char *report_group_name(const struct report_rows *r, uint32_t group); /* NULL: of none */

/* Created if necessary; valid until the next one is created. */
struct report_row *report_row_slow(struct report_rows *r, uint32_t series, uint32_t group);
static inline struct report_row *report_row(struct report_rows *r, uint32_t series, uint32_t group)
{
	uint32_t recent = r->recent[(series + 32 * group) % 256];
	struct report_row *row = (struct report_row *)r->rows.entries + recent;

	return recent < r->rows.n && row->times.key == ((uint64_t)series << 32 | group) ? row
		       : report_row_slow(r, series, group);
}

/* What a key is found by. */
static inline const void *report_key(const struct hodo_text *key)
{
	return hodo_must(key->error ? NULL : key->data);
}

/* ------------------------------------------------------------------------ events */

/* Notes besides the tables. */
struct report_findings {
	uint64_t dropped;      /* begins, because too many were waiting */
	uint64_t unsure_times; /* on or off CPUs: they contain lost events, and do not count */
	uint64_t unsure_spans; /* that contain lost events, but count */
	uint64_t values;       /* bits: which --values had numbers */
	bool by;               /* an event has the field of --by */
};

struct report_events {
	const struct report_options *o;
	struct report_rows rows;
	struct hodo_map classes; /* struct report_class */
	uint32_t recent[256];    /* a cache of their numbers, by the last digits of ids */
	struct hodo_read *r;
	struct hodo_pairs *pairs; /* of --pair; others are the reader's */
	struct hodo_runs *runs;
	struct {
		uint32_t running, latency, off[HODO_SCHED_UNKNOWN + 1]; /* series */
	} cpus;
	struct report_findings findings;
	uint64_t events;
	int64_t begin_ns, end_ns; /* of the first and the last event, regardless of --thread; 0: none */
};

void report_events_start(struct report_events *ev, const struct report_options *o, struct hodo_read *r);
/* Takes each event; for functions' only the times count. 0 or a negative errno. */
int report_events_take(struct report_events *ev, const struct hodo_read_event *e);
void report_events_end(struct report_events *ev);
void report_events_free(struct report_events *ev);
/* Reports what was requested but is not in the recording. */
void report_events_warn(const struct report_events *ev, const char *dir);

/* ------------------------------------------------------------------------- lists */

#define REPORT_CHAIN_MAX   64u
#define REPORT_SLOW_MAX    10u
#define REPORT_CALLEES_MAX 16u

struct report_chain {
	uint32_t n;
	const char *name[REPORT_CHAIN_MAX]; /* innermost first */
};

struct report_stack { /* the deepest of a thread */
	struct hodo_bytes key; /* process and tid */
	uint32_t pid, tid, depth;
	const char *comm;
	uint64_t bytes;
	struct report_chain chain;
};

struct report_held {
	struct hodo_bytes key; /* callback and loop */
	const char *callback, *loop;
	uint64_t times, total_ns, max_ns;
};

struct report_wrong {
	struct hodo_bytes key; /* all but times */
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
	bool open, left;
	int64_t entry_ns;
	uint64_t duration_ns;
	struct report_callee callee[REPORT_CALLEES_MAX];
};

struct report_lists {
	struct hodo_symbols *symbols;
	const struct hodo_args *args; /* NULL: of all threads */
	struct hodo_map stacks, held, wrong; /* struct report_stack, … */
	const struct report_wrong *last_wrong; /* where the last event was counted; NULL: none */
	struct report_slow slow[REPORT_SLOW_MAX]; /* longest first */
	uint32_t nslow;
	struct report_slow next; /* callees that came before their call */
	uint32_t next_frame;
	struct hodo_text key; /* of what is looked up */
};

void report_lists_start(struct report_lists *l, struct hodo_symbols *symbols, const struct hodo_args *args);
void report_lists_free(struct report_lists *l);
void report_lists_event(struct report_lists *l, const struct hodo_read_event *e);
void report_lists_call(struct report_lists *l, const struct hodo_read_call *call); /* a late one */
void report_lists_put(struct hodo_text *to, const struct report_lists *l);
void report_lists_put_json(struct hodo_json *j, const struct report_lists *l);

/* ----------------------------------------------------------------------- slowest */

struct report_slowest_row {
	uint64_t rank_ns; /* for spans the duration, for calls the self time */
	uint64_t duration_ns;
	uint64_t off_ns; /* how long its thread did not run, if off_known */
	bool off_known;
	int64_t begin_ns;
	const char *name, *comm, *host; /* host: NULL: the recording has only one, or it is not known */
	uint32_t pid, tid; /* where it began */
	bool left;
	char *thread; /* comm[tid] */
	char *fields; /* of a span; NULL: a call */
};

struct report_slowest {
	struct hodo_symbols *symbols;
	const struct hodo_args *args;
	struct hodo_read_text *text;
	bool hosts;    /* there are several: rows have theirs */
	uint32_t room; /* of each list: --limit, or ten */
	struct report_slowest_list {
		struct report_slowest_row *row; /* longest first */
		uint32_t n;
	} spans, calls;
};

void report_slowest_start(struct report_slowest *s, struct hodo_symbols *symbols, const struct hodo_args *args,
			  bool hosts);
void report_slowest_free(struct report_slowest *s);
void report_slowest_span(struct report_slowest *s, const struct hodo_read_event *end); /* with its begin */
void report_slowest_call(struct report_slowest *s, const struct hodo_read_call *call); /* that ended */
void report_slowest_put(struct hodo_text *to, const struct report_slowest *s);
void report_slowest_put_json(struct hodo_json *j, const struct report_slowest *s);
extern const struct hodo_columns report_slowest_columns[2]; /* of spans, of calls */

/* Whether the class has this name and fields of these types: a recording's description is not trusted. */
bool report_class_is(const struct hodo_read_class *cls, const char *name, uint32_t nfields, const uint8_t *types);

/* Ticks of the process's clock as ns. */
static inline uint64_t report_ns(const struct hodo_read_process *p, uint64_t ticks)
{
	return p->clock.freq_hz ? (uint64_t)((unsigned __int128)ticks * 1000000000u / p->clock.freq_hz) : 0;
}

/* -------------------------------------------------------------------------- bars */

/* Numbers from low up to, and not including, high. */
struct report_bar {
	double low, high;
	uint64_t n;
};
#define REPORT_BARS_MAX 24

/* At most REPORT_BARS_MAX bars, without gaps. Returns their number. */
int report_bars(struct hodo_histogram *histogram, struct report_bar *bars);
/* As wide as the terminal, or 80 columns; time: numbers are ns. */
void report_bars_put(struct hodo_text *to, const struct report_bar *bars, int n, bool time);
void report_bars_put_json(struct hodo_json *j, const char *key, const struct report_bar *bars, int n);

/* ------------------------------------------------------------------------- whole */

/*
 * One function. Its times are of the calls that ended; others only count in calls and in open, exit_lost or
 * no_exit.
 */
struct report_function {
	struct report_times times; /* key: hodo_place.id; if recordings are compared, a number for each name */
	const char *name, *object;
	uint64_t calls, left, open, exit_lost, no_exit, self_ns;
	uint64_t total_ns; /* of calls not inside another call of the function */
};

struct report {
	struct report_events events;
	struct report_lists lists;
	struct report_slowest slowest;
	struct hodo_read *r;
	struct hodo_symbols *symbols;
	struct hodo_read_calls *calls;
	struct hodo_read_calls_totals totals;
	struct hodo_map functions;   /* struct report_function */
	struct hodo_strings names;   /* of functions, if recordings are compared */
	struct hodo_map inside;      /* struct report_inside */
	struct hodo_arena all_calls; /* struct report_call */
	struct report_call *free_calls;
};

/* Reads all of it. 0, or the exit status after a message. options must live as long. */
int report_read(struct report *rep, const char *dir, const struct report_options *options);
void report_free(struct report *rep);

extern const struct hodo_columns report_columns[REPORT_SECTIONS];
/* other: NULL, or the report to compare with. */
void report_put(struct hodo_page *page, const struct report *rep, const struct report *other);
bool report_empty(const struct report *rep);

#endif
