/* SPDX-License-Identifier: MIT */
/*
 * top.h - hodo top: what it counts, how it is shown.
 *
 *   top_model.c   rows with their counts and rates; sorting, filtering. Knows no process, no terminal.
 *   top_image.c   from the events and the memory of one process into the model.
 *   top_count.c   the same of the packets of a session's processes.
 *   top_watch.c   the same from the buffers of a process that somebody else records.
 *   top_view.c    which of the rows are shown, and what a key does to that. Knows no terminal.
 *   top_frame.c   a view as lines of text of a given width.
 *   top_screen.c  these lines on a terminal.
 *   top_output.c  the same without a terminal, and the model as one line of JSON.
 *   top_target.c  the processes: the command that is run, those that are attached to; switching their events.
 */
#ifndef HODO_CLI_TOP_H
#define HODO_CLI_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <base/map.h>
#include <record/record.h>

#include "table.h"

/* ------------------------------------------------------------------------- model */

#define HODO_TOP_EVENTS_MAX (1u << 18)
#define HODO_TOP_NONE UINT32_MAX

struct hodo_top_count {
	uint64_t total; /* since the start */
	uint64_t base;  /* total at the last reset */
	uint64_t last;  /* total at the last tick */
	double rate;    /* a second, over the last interval */
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

enum hodo_top_state { HODO_TOP_UNLOADED, HODO_TOP_OFF, HODO_TOP_ON, HODO_TOP_MIXED };

struct hodo_top_row {
	struct hodo_bytes key; /* the event's name; the bytes of the thread's pid and tid, of the CPU's number */
	char *name; /* of the event, of the thread; as it came, not printable. NULL: none */
	uint32_t pid, number; /* thread: pid, tid; CPU: its number */
	enum hodo_top_state state; /* event */
	HODO_TOP_COUNTED;
};

struct hodo_top_table {
	struct hodo_map rows;
	struct hodo_top_row *row; /* its entries; they move when a row is added */
	uint32_t n, max;
};

enum hodo_top_kind { HODO_TOP_EVENTS, HODO_TOP_THREADS, HODO_TOP_CPUS, HODO_TOP_KINDS };
enum hodo_top_column {
	HODO_TOP_NAME, HODO_TOP_PID, HODO_TOP_NUMBER, HODO_TOP_RATE, HODO_TOP_AVERAGE, HODO_TOP_TOTAL,
	HODO_TOP_BYTES, HODO_TOP_LOST, HODO_TOP_STATE, HODO_TOP_COLUMNS
};

struct hodo_top_model {
	struct hodo_top_table table[HODO_TOP_KINDS];
	HODO_TOP_COUNTED;
	struct hodo_lost causes, causes_base; /* since the start; at the last reset */
	uint64_t limited, limited_base;
	uint32_t live, images; /* processes now, and so far */
	int64_t start_ns, reset_ns, tick_ns; /* CLOCK_MONOTONIC */
	int64_t interval_ns;   /* that the rates are over */
};

/* now_ns: CLOCK_MONOTONIC, as everywhere below. */
void hodo_top_model_init(struct hodo_top_model *m, int64_t now_ns);
void hodo_top_model_free(struct hodo_top_model *m);

/* The row's number, made if need be; HODO_TOP_NONE if there is no room. Valid until the model is freed. */
uint32_t hodo_top_event(struct hodo_top_model *m, const char *name);
uint32_t hodo_top_thread(struct hodo_top_model *m, uint32_t pid, uint32_t tid);
/* HODO_TOP_NONE if there is none. */
uint32_t hodo_top_find_thread(const struct hodo_top_model *m, uint32_t pid, uint32_t tid);
uint32_t hodo_top_cpu(struct hodo_top_model *m, uint32_t cpu);
/* Gives a row another name. */
void hodo_top_rename(struct hodo_top_row *row, const char *name);

/* Ends an interval: rates are what came since the last tick, by the time that really passed. */
void hodo_top_tick(struct hodo_top_model *m, int64_t now_ns);
/* Counts and averages begin anew; what JSON says does not. */
void hodo_top_reset(struct hodo_top_model *m, int64_t now_ns);

/* The columns, by enum hodo_top_column: of a row, in a table whose context is the model. */
extern const struct hodo_columns hodo_top_columns;
/* Of a struct hodo_lost; the titles are the words for them. */
extern const struct hodo_columns hodo_top_causes;
uint64_t hodo_top_since_reset(const struct hodo_top_count *c);
double hodo_top_average(const struct hodo_top_model *m, const struct hodo_top_count *c);

/*
 * The rows of a kind that match the glob (NULL or "": all; without *, ? and [ it
 * is looked for within the name), sorted: greatest first but for names and numbers, equal ones
 * by name and number, so that rows stay where they are while nothing changes. Returns how many, or -ENOMEM; *order
 * is freed by the caller.
 */
int64_t hodo_top_order(const struct hodo_top_model *m, enum hodo_top_kind kind, enum hodo_top_column column,
		       bool reverse, const char *glob, uint32_t **order);

/* ------------------------------------------------------------------------- count */

struct hodo_top_counter;

struct hodo_top_counter *hodo_top_counter_new(struct hodo_top_model *m);
void hodo_top_counter_free(struct hodo_top_counter *c);
/* For hodo_session_config.packet. */
void hodo_top_packet(struct hodo_top_counter *c, const struct hodo_process *p, const struct hodo_packet *h,
		     const uint8_t *body);
/* Looks at what is not in closed packets yet: brings the model up to date, but for its tick. */
void hodo_top_refresh(struct hodo_top_counter *c, struct hodo_session *s);
/* Adds what the last packets brought, once the session is closed. */
void hodo_top_settle(struct hodo_top_counter *c, const struct hodo_session_stats *stats);

/* The number of the i-th process that is being counted; false: there are not so many. */
bool hodo_top_counter_pid(const struct hodo_top_counter *c, uint32_t i, pid_t *pid);

/* ------------------------------------------------------------------------- watch */

/* A process that somebody else records, in overwrite mode: his buffers are looked at, and left as they are. */
struct hodo_top_watch;

/* Puts one at the end of a list. 0; -ENOENT: nobody records it, -EOPNOTSUPP: not so that it could be watched; another
 * negative errno. */
int hodo_top_watch_open(struct hodo_top_watch **list, pid_t pid, uint32_t *recorder);
void hodo_top_watch_close(struct hodo_top_watch *list);
pid_t hodo_top_watch_pid(const struct hodo_top_watch *list, uint32_t i); /* 0: there are not so many */
/* From now on, their events are counted. */
void hodo_top_counter_watch(struct hodo_top_counter *c, struct hodo_top_watch *list);
/* Counts what is new; returns after how many ns it wants to be called again, -1: nothing is watched any more. */
int64_t hodo_top_watch_step(struct hodo_top_counter *c);

/* -------------------------------------------------------------------------- view */

#define HODO_TOP_FILTER_MAX 128

struct hodo_top_view {
	enum hodo_top_kind kind;
	enum hodo_top_column sort[HODO_TOP_KINDS];
	bool reverse[HODO_TOP_KINDS];
	uint32_t columns; /* bits: that are shown besides the name; 0: as many as there is room for */
	char filter[HODO_TOP_FILTER_MAX];
	char entry[HODO_TOP_FILTER_MAX]; /* being typed */
	bool entering, help, paused;
	uint32_t selected;  /* row, HODO_TOP_NONE: none yet */
	uint32_t at;        /* its place in the order; where it was, if it is not there any more */
	uint32_t first;     /* place that is shown first */
	uint32_t page;      /* rows that are shown, as the last frame had it */
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
/* Sorts and filters anew; the selection stays on its row. */
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
	struct hodo_text text; /* of the line that is being put together */
	bool failed; /* out of memory */
};

#define HODO_TOP_WIDTH_MIN 20
#define HODO_TOP_HEIGHT_MIN 5

/*
 * A text of foreign origin, as it can be shown in the locale: what would control a terminal, or has no width, becomes
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
/* An object on one line. 0 or -ENOMEM. */
int hodo_top_put_json(struct hodo_out *out, const struct hodo_top_model *m);

/* ------------------------------------------------------------------------ screen */

/* 0; -ENOTTY, -ENOTSUP if the terminal cannot be used so. */
int hodo_top_screen_open(bool color);
/* The terminal as it was. */
void hodo_top_screen_close(void);
void hodo_top_screen_draw(struct hodo_top_view *v, const struct hodo_top_model *m);
/* The next key that was pressed, 0: none; -1: one without a meaning. */
int hodo_top_screen_key(void);
int hodo_top_screen_fd(void);
/* The window has changed its size, or was overwritten. */
void hodo_top_screen_resize(void);
/* Gives the terminal back, stops this process until it is continued, and takes it again. */
void hodo_top_screen_stop(void);

#endif
