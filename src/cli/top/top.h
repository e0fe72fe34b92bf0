/* SPDX-License-Identifier: MIT */
/* top.h - hodo top: counting and display; docs/design/top.md describes the files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <base/histogram.h>
#include <base/map.h>
#include <record/record.h>

#include <cli/record/record_options.h>
#include <cli/record/run.h>
#include <cli/output/table.h>

/* ------------------------------------------------------------------------- model */

#define HODO_TOP_EVENTS_MAX (1u << 18)
#define HODO_TOP_NONE UINT32_MAX

struct hodo_top_count {
	uint64_t total; /* since the start */
	uint64_t base;  /* total at the last reset */
	uint64_t last;  /* total at the last tick */
	double rate;    /* per second, over the last interval */
};

/* Members of what is counted: each by its name, and all of them as count[]. */
#define HODO_TOP_COUNTS 3
#define HODO_TOP_COUNTED                                                                                               \
	union {                                                                                                        \
		struct {                                                                                               \
			struct hodo_top_count events, bytes, lost;                                                     \
		};                                                                                                     \
		struct hodo_top_count count[HODO_TOP_COUNTS];                                                          \
	}

/* Durations of spans, as of the last tick. */
struct hodo_top_spread {
	uint64_t n; /* 0: the others mean nothing */
	uint64_t p50_ns, p99_ns, max_ns;
};

/* Spans of one name. */
struct hodo_top_times {
	struct hodo_histogram fresh, all; /* ns: since the last tick; since the last reset */
	uint64_t fresh_max_ns, all_max_ns;
	struct hodo_top_spread interval, whole;
	uint64_t open; /* begun, but not over */
};

/* Of a counter. Its values are numbers of any kind. */
struct hodo_top_values {
	struct hodo_cell last, least, most; /* HODO_CELL_NULL: none yet; least and most since the last reset */
};

enum hodo_top_state { HODO_TOP_UNLOADED, HODO_TOP_OFF, HODO_TOP_ON, HODO_TOP_MIXED };

struct hodo_top_row {
	struct hodo_bytes key; /* the event's name; the bytes of the thread's pid and tid, of the CPU's number */
	char *name; /* of the event or thread; as received, perhaps not printable. NULL: none */
	uint32_t pid, number; /* thread: pid, tid; CPU: its number */
	enum hodo_top_state state; /* event */
	struct hodo_top_times *times;   /* span: of those that are over, which its events are; else NULL */
	struct hodo_top_values *values; /* counter; else NULL */
	bool here;       /* thread: its process is watched now, and it has this tid in /proc */
	uint64_t cpu_ns; /* thread: what it had of CPUs so far */
	int64_t cpu_at;  /* thread: when cpu_ns was read; 0: never */
	double cpu;      /* of one CPU, 0 to 1, in the last interval; below 0: not known */
	HODO_TOP_COUNTED;
};

struct hodo_top_table {
	struct hodo_map rows;
	struct hodo_top_row *row; /* its entries; they move when a row is added */
	uint32_t n, max;
};

enum hodo_top_kind {
	HODO_TOP_EVENTS, HODO_TOP_SPANS, HODO_TOP_COUNTERS, HODO_TOP_THREADS, HODO_TOP_CPUS, HODO_TOP_KINDS
};
enum hodo_top_column {
	HODO_TOP_NAME, HODO_TOP_PID, HODO_TOP_NUMBER, HODO_TOP_RATE, HODO_TOP_AVERAGE, HODO_TOP_TOTAL,
	HODO_TOP_BYTES, HODO_TOP_LOST, HODO_TOP_STATE,
	HODO_TOP_P50, HODO_TOP_P99, HODO_TOP_MAX, HODO_TOP_ALL_P50, HODO_TOP_ALL_P99, HODO_TOP_ALL_MAX, HODO_TOP_OPEN,
	HODO_TOP_LAST, HODO_TOP_LEAST, HODO_TOP_MOST, HODO_TOP_CPU, HODO_TOP_COLUMNS
};
#define HODO_TOP_SPANS_MAX 4096u /* names of them, and of counters: each may have thousands of buckets */

struct hodo_top_model {
	struct hodo_top_table table[HODO_TOP_KINDS];
	HODO_TOP_COUNTED;
	struct hodo_lost causes, causes_base; /* since the start; at the last reset */
	uint64_t limited, limited_base;
	uint32_t live, images; /* processes now, and so far */
	bool settled;          /* no more events come */
	uint32_t cpus_seen;    /* thread whose turn is next: top_cpu.c */
	int64_t start_ns, reset_ns, tick_ns; /* CLOCK_MONOTONIC */
	int64_t interval_ns;   /* that the rates are over */
	/* The sources of the counts, not part of the model itself. */
	struct hodo_top_image *image;
	struct hodo_top_watch *watch;
	uint64_t queued, begun; /* of all images: queued events; start events that wait for their ends */
	uint64_t given_up;      /* start events, for lack of room; end events, because of their number */
};

/* now_ns: CLOCK_MONOTONIC, as everywhere below. */
void hodo_top_model_init(struct hodo_top_model *m, int64_t now_ns);
void hodo_top_model_free(struct hodo_top_model *m);

/* The row's number, created if necessary; HODO_TOP_NONE if there is no room. Valid until the model is freed. */
uint32_t hodo_top_event(struct hodo_top_model *m, const char *name);
uint32_t hodo_top_thread(struct hodo_top_model *m, uint32_t pid, uint32_t tid);
/* HODO_TOP_NONE if there is none. */
uint32_t hodo_top_find_thread(const struct hodo_top_model *m, uint32_t pid, uint32_t tid);
uint32_t hodo_top_cpu(struct hodo_top_model *m, uint32_t cpu);
uint32_t hodo_top_span(struct hodo_top_model *m, const char *base);
uint32_t hodo_top_counter(struct hodo_top_model *m, const char *name);
/* Gives a row another name. */
void hodo_top_rename(struct hodo_top_row *row, const char *name);

/* top_times.c: records a span's duration, or a counter's value. */
void hodo_top_took(struct hodo_top_row *span, uint64_t ns);
void hodo_top_set(struct hodo_top_row *counter, const struct hodo_cell *value);
/* For any row: at the end of an interval, at a reset, when it is freed. */
void hodo_top_times_tick(struct hodo_top_row *row);
void hodo_top_times_reset(struct hodo_top_row *row);
void hodo_top_times_free(struct hodo_top_row *row);

/* top_cpu.c: measures threads' CPU time since the last call. */
void hodo_top_see_cpus(struct hodo_top_model *m);

/* Ends an interval: rates are the events since the last tick, divided by the actual time. */
void hodo_top_tick(struct hodo_top_model *m, int64_t now_ns);
/* Restarts counts and averages, except in JSON. */
void hodo_top_reset(struct hodo_top_model *m, int64_t now_ns);

/* The columns, by enum hodo_top_column: of a row, in a table whose context is the model. */
extern const struct hodo_columns hodo_top_columns;
/* Columns for a struct hodo_lost; the titles name the causes. */
extern const struct hodo_columns hodo_top_causes;
uint64_t hodo_top_since_reset(const struct hodo_top_count *c);
double hodo_top_average(const struct hodo_top_model *m, const struct hodo_top_count *c);

/*
 * The rows of a kind that match the glob (NULL or "": all; without *, ? and [ it
 * is looked for within the name), sorted: greatest first except for names and numbers, equal ones by name and
 * number, so that rows do not move while nothing changes. Returns how many; the caller frees *order.
 */
uint32_t hodo_top_order(const struct hodo_top_model *m, enum hodo_top_kind kind, enum hodo_top_column column,
			bool reverse, const char *glob, uint32_t **order);

/* ------------------------------------------------------------------------- count */

/* What has been counted of a ring early, before its packets are complete. */
struct hodo_top_place {
	uint64_t packet; /* sequence number of the last one counted while open */
	uint32_t bytes;  /* of its events, counted so far */
	struct hodo_cursor cursor; /* after them: for the next ones, unless an anchor says otherwise */
	uint64_t lost;   /* events that were refused, counted so far */
	uint64_t told;   /* missing events already reported to the spans */
};

/* What is known of an event's id. */
struct hodo_top_id {
	uint64_t limited; /* events over its rate, in the model or not ours */
	uint32_t row;     /* the model's, HODO_TOP_NONE: not known */
};

/* One counted process image. */
struct hodo_top_spans;
struct hodo_top_image {
	struct hodo_top_image *next;
	struct hodo_top_model *model;
	const struct hodo_process *process; /* NULL: it has ended */
	uint8_t uuid[16];
	uint32_t pid, vpid;
	struct hodo_walk_tally *tally; /* by event id, not yet in the model */
	struct hodo_top_id *id;        /* by event id */
	uint32_t ids;                  /* entries of these */
	uint32_t events;               /* how many of the catalogue's events were processed */
	struct hodo_top_place *place;  /* by ring */
	uint32_t tid, thread;          /* the last one that was looked up */
	struct hodo_top_spans *spans;  /* and counters: top_spans.h */
};

/* The image of a process, created if necessary. */
struct hodo_top_image *hodo_top_image_of(struct hodo_top_model *m, const struct hodo_process *p);
void hodo_top_image_free(struct hodo_top_image *im);
/* Adds rows for new events. */
void hodo_top_see_events(struct hodo_top_image *im, const struct hodo_process *p);
/* Reads the state of the process's events, and the names of its threads, which may have changed. */
void hodo_top_see_state(struct hodo_top_image *im, const struct hodo_process *p);
/* Takes events over their rate since the last call; count: adds them to the model. */
void hodo_top_add_limited(struct hodo_top_image *im, const struct hodo_process *p, bool count);
/* Counts events of a ring, of a packet or from the cursor on. Returns how many of the len bytes they take. */
uint32_t hodo_top_count_events(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring,
			       const uint8_t *body, uint32_t len, struct hodo_cursor *cursor);
/* Counts lost events of a ring. */
void hodo_top_count_lost(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring, uint64_t lost);
/* Adds the counts by id to the rows by name. */
void hodo_top_add_tallies(struct hodo_top_image *im);

/* For the recorder's ops. */
void hodo_top_packet(struct hodo_top_model *m, const struct hodo_process *p, const struct hodo_packet *h,
		     const uint8_t *body);
/* Reads what is not in closed packets yet: brings the model up to date, except for its tick. */
void hodo_top_refresh(struct hodo_top_model *m, struct hodo_recorder *s);
/* Adds what the last packets brought, once the recorder is closed. */
void hodo_top_settle(struct hodo_top_model *m, const struct hodo_recorder_stats *stats);
void hodo_top_images_free(struct hodo_top_model *m);

/* ------------------------------------------------------------------------- watch */

/* A process that another recorder records, in overwrite mode: its buffers are read, and not changed. */
struct hodo_top_watch;

/* Appends one to a list. 0; -ENOENT: nobody records it, -EOPNOTSUPP: not in a mode that can be watched;
 * another negative errno. */
int hodo_top_watch_open(struct hodo_top_watch **list, pid_t pid, uint32_t *recorder);
void hodo_top_watch_close(struct hodo_top_watch *list);
pid_t hodo_top_watch_pid(const struct hodo_top_watch *list, uint32_t i); /* 0: there are not so many */
/* From now on, their events are counted. */
void hodo_top_watch_begin(struct hodo_top_model *m, struct hodo_top_watch *list);
/* Counts new events; returns after how many ns it must be called again, -1: nothing is watched any more. */
int64_t hodo_top_watch_step(struct hodo_top_model *m);
/* Brings the watched ones up to date. Returns how many continue. */
uint32_t hodo_top_watch_refresh(struct hodo_top_model *m);
void hodo_top_watch_lost(const struct hodo_top_model *m, struct hodo_lost *lost, uint64_t *limited);

/* -------------------------------------------------------------------------- view */

extern const char hodo_top_letters[HODO_TOP_COLUMNS + 1]; /* of the columns, which are keys on the keyboard */

#define HODO_TOP_FILTER_MAX 128

struct hodo_top_view {
	enum hodo_top_kind kind;
	bool sections; /* without a screen: also show tables of spans and counters, if any */
	enum hodo_top_column sort[HODO_TOP_KINDS];
	bool reverse[HODO_TOP_KINDS];
	uint32_t columns; /* bits: shown besides the name; 0: as many as fit */
	char filter[HODO_TOP_FILTER_MAX];
	char entry[HODO_TOP_FILTER_MAX]; /* being typed */
	bool entering, help, paused;
	uint32_t selected;  /* row, HODO_TOP_NONE: none yet */
	uint32_t at;        /* its index in the order, or its last one if it has gone */
	uint32_t first;     /* first shown index */
	uint32_t page;      /* rows shown in the last frame */
	uint32_t help_first; /* line of the help */
	uint32_t *order;
	uint32_t n;
	int64_t interval_ns; /* wanted */
	const char *title;   /* what is watched; not printable */
	char message[256];   /* for the bottom line */
};

enum hodo_top_key {
	HODO_KEY_UP = 256, HODO_KEY_DOWN, HODO_KEY_LEFT, HODO_KEY_RIGHT, HODO_KEY_PAGE_UP, HODO_KEY_PAGE_DOWN,
	HODO_KEY_HOME, HODO_KEY_END, HODO_KEY_BACKSPACE, HODO_KEY_ENTER, HODO_KEY_ESCAPE
};
enum hodo_top_action { HODO_TOP_DRAW, HODO_TOP_QUIT, HODO_TOP_SWITCH, HODO_TOP_RESET, HODO_TOP_REDRAW };

#define HODO_TOP_INTERVAL_MIN_NS 100000000ll
#define HODO_TOP_INTERVAL_MAX_NS 3600000000000ll

void hodo_top_view_init(struct hodo_top_view *v);
void hodo_top_view_free(struct hodo_top_view *v);
/* Whether a table can be sorted so. */
bool hodo_top_sortable(enum hodo_top_kind kind, enum hodo_top_column column);
/* Sorts and filters again; the selection stays on its row. */
void hodo_top_view_update(struct hodo_top_view *v, const struct hodo_top_model *m);
/* A character, or enum hodo_top_key. */
enum hodo_top_action hodo_top_view_key(struct hodo_top_view *v, const struct hodo_top_model *m, int key);

/* ------------------------------------------------------------------------- frame */

enum hodo_top_look {
	HODO_LOOK_PLAIN, HODO_LOOK_TITLE, HODO_LOOK_LOSS, HODO_LOOK_HEAD, HODO_LOOK_SELECTED, HODO_LOOK_OFF,
	HODO_LOOK_BOTTOM
};

struct hodo_top_line {
	enum hodo_top_look look;
	char *text; /* printable in the locale, padded to the frame's width if it has a background */
};

struct hodo_top_frame {
	struct hodo_top_line *line;
	uint32_t n;
	int width;
	struct hodo_text text; /* of the line being built */
};

#define HODO_TOP_WIDTH_MIN 20
#define HODO_TOP_HEIGHT_MIN 5

/*
 * Makes foreign text displayable in the locale: characters that control a terminal, or have no width, become
 * '?'; cut to width columns. Returns how many it takes.
 */
int hodo_top_printable(char *to, size_t size, const char *from, int width);
/* height 0: all rows, no selection and no bottom line. */
void hodo_top_frame_build(struct hodo_top_frame *f, const struct hodo_top_model *m, struct hodo_top_view *v, int width,
			  int height);
void hodo_top_frame_free(struct hodo_top_frame *f);

/* --------------------------------------------------------------- without a screen */

/* The table, as wide as the terminal or 100 columns. */
void hodo_top_put_lines(struct hodo_out *out, const struct hodo_top_model *m, struct hodo_top_view *v,
			uint32_t lines_max);
/* An object on one line. */
void hodo_top_put_json(struct hodo_out *out, const struct hodo_top_model *m);

/* ------------------------------------------------------------------------ screen */

/* 0; -ENOTTY, -ENOTSUP if the terminal cannot be used so. */
int hodo_top_screen_open(bool color);
/* Restores the terminal. */
void hodo_top_screen_close(void);
void hodo_top_screen_draw(struct hodo_top_view *v, const struct hodo_top_model *m);
/* The next key pressed, 0: none; -1: an unknown one. */
int hodo_top_screen_key(void);
int hodo_top_screen_fd(void);
/* The window has changed its size, or was overwritten. */
void hodo_top_screen_resize(void);
/* Gives the terminal back, stops this process until it is continued, and takes it again. */
void hodo_top_screen_stop(void);

/* ----------------------------------------------------------------------- targets */

struct hodo_top_target {
	struct hodo_run run; /* its planner is for functions without slots: nothing else is planned */
	struct hodo_attach_options attach;
	struct hodo_top_watch *watches; /* of processes that others record */
	bool kernel;
	struct hodo_pattern_list kernel_patterns;
	struct hodo_pattern_list sdt;
	struct hodo_planner_probes probes;
	struct hodo_planner_replacements replacements;
	int output;   /* the command's output, while we have the screen; -1: it writes to our output */
	uint64_t output_dropped; /* bytes dropped from its beginning */
	struct hodo_map off; /* struct hodo_bytes: names of events that were switched off here */
};

/*
 * Starts the command in the recorder. screen: it does not get the terminal; else its standard output goes to
 * our standard error, since ours is data. 0, or the exit status after a message.
 */
int hodo_top_start(struct hodo_top_target *t, bool screen);
/* For a recorder that records functions. */
struct hodo_top_options;
void hodo_top_plan(struct hodo_top_target *t, struct hodo_top_options *o, struct hodo_recorder_config *config);
/* What 'hodo list' lists the same events of. */
void hodo_top_listed(const struct hodo_top_target *t, char listed[PATH_MAX]);
/* Why nothing was seen, and what to try next. looked: else it ended before its events were read. */
void hodo_top_tell_nothing(const struct hodo_top_target *t, bool looked);
void hodo_top_tell_no_function(const struct hodo_top_target *t);
/* Bounds the memory that the command's output takes. */
void hodo_top_trim_output(struct hodo_top_target *t);
/* Writes the end of the command's output to ours. */
void hodo_top_put_output(struct hodo_top_target *t);

/* Stops those from listening that we made listen; after the recorder. */
void hodo_top_detach(struct hodo_top_target *t);

/*
 * Removes from attach those that another recorder records in a mode that can be watched, and reports that.
 */
void hodo_top_find_watched(struct hodo_top_target *t);

/* Switches an event on or off in all watched processes; message gets the result. */
void hodo_top_switch(struct hodo_top_target *t, const struct hodo_top_model *m, const struct hodo_top_row *row,
		     char *said, size_t size);
/* Switches on again what was switched off here. */
void hodo_top_switch_back(struct hodo_top_target *t, const struct hodo_top_model *m);

void hodo_top_target_free(struct hodo_top_target *t);

#define HODO_TOP_TITLE_MAX 256u
/* What is watched, "kvd[4711] ls[4712]", printable. */
void hodo_top_title(const struct hodo_top_target *t, char *title, size_t size);

/* --------------------------------------------------------------------------- run */

enum hodo_top_output { HODO_TOP_SCREEN, HODO_TOP_BATCH, HODO_TOP_JSON };

struct hodo_top_options {
	struct hodo_args args;
	bool batch;
	enum hodo_top_output output; /* derived from these */
	int64_t interval_ns;
	int64_t duration_ns; /* 0: no end */
	uint64_t iterations; /* 0: no end */
	uint64_t ring_size;  /* bytes, 2^n */
	enum hodo_top_kind kind; /* HODO_TOP_KINDS: not said */
	enum hodo_top_column sort;
	uint32_t columns; /* as in struct hodo_top_view */
	struct hodo_pattern_list patterns;
	struct hodo_functions functions;
	struct hodo_top_target target;
};

/* The exit status. */
int hodo_top_run(struct hodo_top_options *o);
