/* SPDX-License-Identifier: MIT */
/*
 * graph.h - hodo graph: from calls, spans and events to lines.
 *
 * A line is written once it is known to be needed: a call or span in which nothing happened has one line, and
 * one shorter than --min-time has none. So each thread holds back open ones without a line, outermost first;
 * nothing else is kept.
 *
 * Each opening line adds a level of indentation for later lines of its thread, and each closing line removes
 * one. So a line's level is the number of open calls and spans around it, whichever of them ends first.
 */
#pragma once

#include <cli/cli.h>
#include <base/map.h>
#include <base/text.h>
#include <sym/recording_symbols.h>
#include <read/time/late_calls.h>
#include <read/event/pairs.h>

struct graph_options {
	struct hodo_args args;
	const char *function;
	uint64_t depth;
	int64_t min_time_ns;
	bool times;
};

struct graph_thread;

/* An open call or span. */
struct graph_open {
	struct graph_thread *thread;
	const char *name;
	int64_t entry_ns;
	uint32_t depth;  /* calls around it */
	uint32_t level;  /* calls and spans around it when it began */
	uint32_t flags;  /* HODO_READ_CALL_*; of a span 0 */
	bool begun;      /* its opening line is written */
	bool away;       /* a line says that it was left, has lost its exit, or waits */
	bool span;
	bool shown;      /* span: it is among its thread's, at its place */
	bool ends;       /* span: its end is kept, and yet to come (graph_late.c) */
	uint32_t place;
	uint32_t passed; /* span: how often an enclosing call or span ended before it */
	uint32_t pair;   /* span: its number among start events that wait for their ends; GRAPH_NO_PAIR: none */
	uint64_t number; /* in order of the spans' starts; for a call, the next span's */
	char *text;      /* a call's arguments, NULL: not known; a span's fields, NULL: not needed */
	struct graph_open *next; /* free ones */
	struct graph_open *other; /* all there are */
};
#define GRAPH_NO_PAIR UINT32_MAX
#define GRAPH_HOST_MAX 24 /* of a host's name, in its column */
#define GRAPH_SPANS_MAX (1u << 14) /* of a thread; deeper ones are shown as events */

/* How long something took, and how much of that its thread did not run; below 0: not known. */
struct graph_took {
	int64_t ns, off_ns;
};
#define GRAPH_NOT_KNOWN ((struct graph_took){ -1, -1 })

enum graph_event_kind { GRAPH_EVENT, GRAPH_SPAN_BEGIN, GRAPH_SPAN_END };

/* An event as text. */
struct graph_event {
	enum graph_event_kind kind;
	int64_t ts_ns;
	struct graph_took took;
	struct graph_open *span; /* of BEGIN and END */
	char *text;              /* its name and its fields; NULL: an END without more information */
	size_t len, fields;      /* fields: of the name */
	uint32_t after; /* how many kept calls had ended before (graph_late.c) */
};

/* Values for the call of the thread's next record; function NULL: none. */
struct graph_values {
	const char *function;
	struct hodo_text text;
};

struct graph_thread_key {
	const struct hodo_read_process *process;
	uint64_t tid;
};

struct graph_thread {
	struct graph_thread_key key;
	const char *comm;
	bool wanted;
	struct graph_open **held; /* without a line */
	uint32_t nheld, held_room;
	struct graph_open **spans;
	uint32_t nspans, spans_room;
	struct graph_values arguments, result;
	struct graph_open *root; /* --function: the outermost call of it; NULL: in none */
	bool late; /* its calls are known only at their end */
	uint32_t ended;             /* if late: how many calls are kept */
	struct graph_event *events; /* if late: events without lines yet, with their text */
	uint32_t nevents, events_room, shown; /* the first of them have lines */
	uint32_t inside;                      /* calls around the present position */
};

struct graph {
	const struct graph_options *o;
	struct hodo_symbols *symbols;
	struct hodo_read_calls *calls;
	struct hodo_map threads; /* struct graph_thread, kept by its key */
	struct graph_thread *last; /* that was looked up */
	const struct hodo_read_event *now; /* NULL: the end */
	struct hodo_arena opens; /* struct graph_open */
	struct graph_open *free, *all;
	struct hodo_read *r;
	uint64_t nspans; /* shown so far */
	struct hodo_read_text *text; /* of one event or name */
	struct hodo_text out;        /* lines */
	uint32_t kept; /* events without lines, of all late threads */
	bool color, columns;         /* columns: tid and comm */
	int host_width;              /* of a column; 0: there are not several hosts */
	bool off_cpu;                /* the recording may say how long threads did not run: a column */
};

static inline bool graph_in_time(const struct graph *g, int64_t ts_ns)
{
	return ts_ns >= g->o->args.since_ns;
}

/* Calls around, as --depth counts them: with --function from that function on. */
static inline uint32_t graph_depth(const struct graph_thread *t, uint32_t depth)
{
	return t->root && depth >= t->root->depth ? depth - t->root->depth : depth;
}

/* The level of a line with that many calls around it: shown calls, and spans. Calls outside of --function's
 * selection are not kept. */
static inline uint32_t graph_level(const struct graph *g, const struct graph_thread *t, uint32_t depth)
{
	uint32_t calls = graph_depth(t, depth);

	return (calls < g->o->depth ? calls : (uint32_t)g->o->depth) + t->nspans;
}

/* Whether --function and --depth let an event be seen there. */
static inline bool graph_shows(const struct graph *g, const struct graph_thread *t, uint32_t depth)
{
	return (!g->o->function || t->root) && graph_depth(t, depth) <= g->o->depth;
}

/* graph_text.c */
void graph_title(struct graph *g);
enum graph_line { GRAPH_OPENS, GRAPH_CLOSES, GRAPH_LEAF, GRAPH_ONLY_END };
/* note: "left", "exit lost" and the like, or NULL. result: from graph_values_take(), or for a span its end's
 * fields; NULL: none. */
void graph_line(struct graph *g, const struct graph_open *c, enum graph_line line, uint32_t level, int64_t ts_ns,
		struct graph_took took, const char *note, const char *result);
/* Sets the text to the event's name and fields as print has them; valid until the next name is put. */
void graph_event_text(struct graph *g, const struct hodo_read_event *e, struct graph_event *event);
void graph_event_line(struct graph *g, const struct graph_thread *t, const struct graph_event *event, uint32_t level);

/* off: how long its thread did not run; NULL: not known. */
void graph_json_call(struct graph *g, const struct graph_open *c, const struct hodo_read_call *call,
		     const struct hodo_read_off_cpu *off, const char *result);
/* duration_ns < 0: none besides the event's own. */
void graph_json_event(struct graph *g, const struct hodo_read_event *e, uint32_t depth, uint32_t level,
		      int64_t duration_ns);
void graph_json_summary(struct graph *g, const struct hodo_read *r);

/* graph_open.c: what calls and spans have in common */
struct graph_open *graph_open_new(struct graph *g); /* all zero */
void graph_open_free(struct graph *g, struct graph_open *c);
/* Begins without a line for now: writes lines of enclosing ones that have lasted long enough. */
void graph_open_hold(struct graph *g, struct graph_open *c);
/* Writes the opening lines of held ones that have lasted long enough by now, or of all. */
void graph_open_release(struct graph *g, struct graph_thread *t, int64_t now_ns, bool all);
/* The last line, or the only one. level: of the line. */
void graph_open_end(struct graph *g, struct graph_open *c, uint32_t level, int64_t end_ns, struct graph_took took,
		    const char *note, const char *result);

/* graph_calls.c: lines as calls come, in order */
void graph_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call);
/* values: of the thread whose current record is the call's exit; NULL: none is. */
void graph_leave(struct graph *g, const struct hodo_read_call *call, struct graph_values *values);
void graph_away(void *g, const struct hodo_read_call *call); /* the op of hodo_read_calls_ops */

/* graph_spans.c: spans and events, in two steps: what they are is known when they come; where they belong is
 * known when they are shown, which is later in threads with late calls. */
struct graph_event graph_span_pair(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e);
/* depth: calls around it. e: the event of JSON; NULL: lines, of the text. */
void graph_show_event(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		      const struct hodo_read_event *e, uint32_t depth);
/* A call ends now: handles spans that began in it. left: by a jump. True: one of them continues. */
bool graph_spans_pass(struct graph *g, const struct graph_open *call, int64_t end_ns, bool left);
/* At the end of the recording: a thread's spans that began in the call, or (NULL) all. */
void graph_spans_close(struct graph *g, struct graph_thread *t, const struct graph_open *call, int64_t end_ns);

/* graph_values.c */
/* False: the event is none of those. */
bool graph_values_keep(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e);
/* The text if it belongs to that function, valid until the thread's next one, or NULL. Then nothing is kept. */
const char *graph_values_take(struct graph_values *v, const char *function);
void graph_values_free(struct graph_thread *t);

/* graph_late.c */
enum hodo_late graph_late_choose(const struct graph *g, struct graph_thread *t, const struct hodo_late_call *late);
void graph_late_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call);
void graph_late_leave(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call);
void graph_late_event(struct graph *g, struct graph_thread *t, const struct graph_event *event); /* copies it */
void graph_late_show(struct graph *g, struct graph_thread *t); /* events after all calls */
