/* SPDX-License-Identifier: MIT */
/*
 * report_events.h - hodo report, beside functions: rows of events, spans, values and scheduling.
 *
 * A series is what is counted or measured: an event, a span or pair of events, a field, a way of waiting. A row is a
 * series, or with --by one of the groups that it falls into.
 */
#ifndef HODO_CLI_REPORT_EVENTS_H
#define HODO_CLI_REPORT_EVENTS_H

#include "cli.h"
#include "report_numbers.h"
#include <export/histogram.h>
#include <export/scheduling.h>

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
	const char *thread, *since, *until;
	enum report_by by;
	const char *by_field;
	struct report_pair pairs[REPORT_PAIRS_MAX];
	struct report_value values[REPORT_VALUES_MAX];
	uint32_t npairs, nvalues;
	bool quiet;
	bool diff; /* what has another number in another recording goes by its name alone */
};

/* "A,B" or "A,B by KEY,…". 0, -EINVAL, -ENOMEM. */
int report_pair_parse(struct report_pair *pair, const char *text);
int report_value_parse(struct report_value *value, const char *text);
void report_options_free(struct report_options *o);

struct report_series {
	enum report_section section;
	char *name;
	const struct report_pair *pair; /* of --pair; else NULL */
	bool seen[2];                   /* --pair: its begin, its end was in the recording */
	uint32_t row;                   /* the one without a group, + 1; 0: there is none yet */
};

struct report_stat {
	uint32_t series;
	char *group; /* NULL: not split, or by what the event does not have */
	uint64_t hash;
	uint64_t count;   /* of events; of spans, those with begin and end */
	uint64_t begins;  /* unpaired */
	uint64_t ends;    /* … */
	uint64_t sum_ns, min_ns, max_ns;
	struct hodo_histogram *times; /* NULL: none, or there are too many rows */
	struct report_numbers *numbers;
};

struct report_open;
struct report_class;
struct report_gap;

struct report_events {
	const struct report_options *o;
	struct report_series *series;
	uint32_t nseries, series_room;
	uint32_t *series_index; /* open addressing: 1 + a series, by section and name */
	uint32_t series_mask;
	struct report_stat *rows;
	uint32_t nrows, rows_room;
	uint32_t *index; /* open addressing: 1 + a row, by series and group */
	uint32_t index_mask;
	uint32_t nmeasured; /* rows with times or numbers */
	struct report_class *classes; /* open addressing */
	uint32_t nclasses, classes_mask;
	struct report_open *open;
	struct hodo_sched *sched;
	const struct hodo_read_process *sched_process;
	uint32_t running, latency, off[HODO_SCHED_UNKNOWN + 1]; /* series; 0: not yet, else + 1 */
	struct {
		const struct hodo_read_process *process;
		const char *comm;
		uint32_t tid;
		bool wanted;
	} last; /* answer to --thread */
	struct report_class *last_class;
	uint64_t events;
	int64_t begin_ns, end_ns; /* of the first and the last event, whatever --thread says; 0: there is none */
	struct report_gap *gaps;  /* when events were lost, by process and time */
	uint32_t ngaps;
	int64_t untold_ns;        /* from here on there are more of them */
	uint64_t unsure;          /* times on or off CPUs that reach over one */
	uint64_t unsure_spans;    /* spans that do, which are counted */
	uint64_t dropped;         /* open begins, as there were too many */
	bool others;              /* there were too many groups */
	bool unmeasured;          /* … and rows with times or numbers */
	bool by_found;            /* an event has the field of --by */
	uint64_t value_found;     /* bits: --values of a number were there */
	bool no_memory;
};

/* report_events.c */
int report_events_start(struct report_events *ev, const struct report_options *o); /* 0 or -ENOMEM */
/* Each event; of functions' only the times count. 0 or -ENOMEM. */
int report_events_take(struct report_events *ev, const struct hodo_read_event *e);
int report_events_end(struct report_events *ev); /* 0 or -ENOMEM */
void report_events_free(struct report_events *ev);
/* Says what was asked for and is not in the recording. */
void report_events_tell(const struct report_events *ev, const char *dir);

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
void report_add_time(struct report_events *ev, uint32_t row, uint64_t ns);
void report_add_number(struct report_events *ev, uint32_t row, double number, bool whole);
uint64_t report_stat_at(const struct report_stat *row, double q);
double report_stat_avg(const struct report_stat *row);
uint64_t report_hash_value(const struct hodo_read_value *v);
uint64_t report_hash(uint64_t h, uint64_t v);

/* report_losses.c */
int report_losses_read(struct report_events *ev, struct hodo_read *reader); /* 0 or negative errno; rewinds */
bool report_losses_between(const struct report_events *ev, const struct hodo_read_process *process, int64_t from_ns,
			   int64_t until_ns);

/* report_open.c: begins whose end has not come. */
struct report_open *report_open_new(void); /* NULL: no memory */
void report_open_free(struct report_open *open);
/* A begin. *forgotten: the row of one that made room; REPORT_NONE: none. 0 or -ENOMEM. */
int report_open_add(struct report_open *open, uint64_t key, uint32_t series, uint32_t row, int64_t begin_ns,
		    uint32_t *forgotten);
/* Takes the latest with the key out. false: there is none. */
bool report_open_take(struct report_open *open, uint64_t key, uint32_t series, uint32_t *row, int64_t *begin_ns);
/* Takes any out. false: there is none. */
bool report_open_any(struct report_open *open, uint32_t *row);

/* --sort */
enum report_sort {
	REPORT_SORT_TOTAL,
	REPORT_SORT_SELF,
	REPORT_SORT_CALLS,
	REPORT_SORT_AVG,
	REPORT_SORT_P50,
	REPORT_SORT_P99,
	REPORT_SORT_MAX,
	REPORT_SORT_MIN,
	REPORT_SORT_NAME
};

/* How it is shown. */
struct report_look {
	enum report_sort sort;
	uint64_t limit; /* rows of each section */
	bool histogram;
	const char *histogram_of; /* a glob for names; NULL: all */
	bool color;
};
bool report_histogram_wanted(const struct report_look *look, const char *name);

/* report_sections.c */
extern const char *const report_section_titles[REPORT_SECTIONS], *const report_section_keys[REPORT_SECTIONS];
/* Returns whether there was any. first: nothing stands above. */
bool report_put_sections(FILE *f, const struct report_events *ev, const struct report_look *look, bool first);
void report_put_sections_json(FILE *f, const struct report_events *ev, const struct report_look *look);
double report_stat_key(const struct report_events *ev, const struct report_stat *row, enum report_sort sort);
void report_put_stat_name(FILE *f, const struct report_events *ev, const struct report_stat *row);
void report_put_group_json(FILE *f, const struct report_events *ev, const struct report_stat *row);
void report_put_stat_json(FILE *f, const struct report_events *ev, const struct report_stat *row, bool histogram);
void report_put_number(FILE *f, double number, int width);
/* Before, after, and the change in percent; time: they are ns. */
void report_put_change(FILE *f, double before, double after, bool time);

/* report_diff.c: 0 or -ENOMEM. */
int report_put_sections_diff(FILE *f, const struct report_events *before, const struct report_events *after,
			     const struct report_look *look, bool json, bool first);

#endif
