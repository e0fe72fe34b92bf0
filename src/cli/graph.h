/* SPDX-License-Identifier: MIT */
/*
 * graph.h - hodo graph: from calls, spans and events to lines.
 *
 * A line comes when it is known to be needed: a call or a span in which nothing happened
 * has one line, and one that took less than --min-time has none. So each thread
 * holds back those that are open and have no line yet, the outermost first;
 * nothing else is kept.
 *
 * Each opening line adds a level of indentation for what comes behind it in its thread, and each closing line takes
 * one away. So a line's level is the number of calls and spans that are open around it, whichever of them ends first.
 */
#ifndef HODO_CLI_GRAPH_H
#define HODO_CLI_GRAPH_H

#include "cli.h"
#include <base/map.h>
#include <base/text.h>
#include <export/symbols.h>
#include <read/complete_calls.h>
#include <read/pairs.h>

struct graph_options {
	struct hodo_args args;
	const char *function;
	uint64_t depth;
	int64_t min_time_ns;
	bool times;
};

struct graph_thread;

/* A call or a span that is open. */
struct graph_open {
	struct graph_thread *thread;
	const char *name;
	int64_t entry_ns;
	uint32_t depth;  /* calls around it */
	uint32_t level;  /* calls and spans around it when it began */
	uint32_t flags;  /* HODO_READ_CALL_*; of a span 0 */
	bool begun;      /* its opening line is written */
	bool away;       /* it has a line that it was left, has lost its exit, or waits */
	bool span;
	bool shown;      /* span: it is among its thread's, at its place */
	bool ends;       /* span: its end is kept, and is to come (graph_complete.c) */
	uint32_t place;
	uint32_t passed; /* span: how often what it began in ended before it */
	uint32_t pair;   /* span: its number among begins that wait for their ends; GRAPH_NO_PAIR: none */
	uint64_t number; /* in the order in which spans begin; of a call the next span's */
	char *text;      /* a call's arguments, NULL: not known; a span's fields, NULL: not needed */
	struct graph_open *next; /* free ones */
	struct graph_open *other; /* all there are */
};
#define GRAPH_NO_PAIR UINT32_MAX
#define GRAPH_SPANS_MAX (1u << 14) /* of a thread; what is deeper is an event like others */

enum graph_event_kind { GRAPH_EVENT, GRAPH_SPAN_BEGIN, GRAPH_SPAN_END };

/* An event as text. */
struct graph_event {
	enum graph_event_kind kind;
	int64_t ts_ns;
	int64_t duration_ns;     /* < 0: none */
	struct graph_open *span; /* of BEGIN and END */
	char *text;              /* its name and its fields; NULL: END of which nothing more is known */
	size_t len, fields;      /* fields: of the name */
	uint32_t after; /* calls that had ended before, of those that are kept (graph_complete.c) */
};

/* Of the call that the thread's next record is about; function NULL: of none. */
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
	bool complete; /* its calls are known at their end only */
	struct hodo_complete_calls calls; /* then: those that have no lines yet */
	struct graph_event *events;       /* … and events, their text with them */
	uint32_t nevents, events_room, shown; /* the first of them have lines */
	uint32_t inside;                      /* calls around what is shown at present */
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
	struct hodo_pairs *pairs; /* begins that wait for their ends: struct graph_open, or 0 of one that is an event */
	struct hodo_text key;
	uint64_t nspans; /* that have been shown */
	struct hodo_read_text *text; /* of one event or name */
	struct hodo_text out;        /* lines */
	uint32_t kept; /* calls and events without lines, of all complete threads */
	bool color, columns;         /* columns: tid and comm */
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

/* Of a line now, with so many calls around: those that are shown, and spans. Those outside of what --function selects
 * are not kept. */
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
/* note: "left", "exit lost" and the like; NULL: none. result: as graph_values_take() has it, of a span its end's
 * fields; NULL: none. duration_ns < 0: none. */
void graph_line(struct graph *g, const struct graph_open *c, enum graph_line line, uint32_t level, int64_t ts_ns,
		int64_t duration_ns, const char *note, const char *result);
/* Sets the text to the event's name and fields as print has them; valid until the next name is put. */
void graph_event_text(struct graph *g, const struct hodo_read_event *e, struct graph_event *event);
void graph_event_line(struct graph *g, const struct graph_thread *t, const struct graph_event *event, uint32_t level);

void graph_json_call(struct graph *g, const struct graph_open *c, const struct hodo_read_call *call,
		     const char *result);
/* duration_ns < 0: none that the event does not say itself. */
void graph_json_event(struct graph *g, const struct hodo_read_event *e, uint32_t depth, uint32_t level,
		      int64_t duration_ns);
void graph_json_summary(struct graph *g, const struct hodo_read *r);

/* graph_open.c: what calls and spans have in common */
struct graph_open *graph_open_new(struct graph *g); /* all zero */
void graph_open_free(struct graph *g, struct graph_open *c);
/* Begins without a line for the present: lines of those around it come, if they have lasted long enough. */
void graph_open_hold(struct graph *g, struct graph_open *c);
/* Writes the opening lines of those that are held and have lasted long enough by now, or of all. */
void graph_open_release(struct graph *g, struct graph_thread *t, int64_t now_ns, bool all);
/* The last line, or the only one. level: of the line. duration_ns < 0: none. */
void graph_open_end(struct graph *g, struct graph_open *c, uint32_t level, int64_t end_ns, int64_t duration_ns,
		    const char *note, const char *result);

/* graph_calls.c: lines as calls come, in order */
void graph_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call);
/* values: of the thread whose record of now is the call's exit; NULL: no record is. */
void graph_leave(struct graph *g, const struct hodo_read_call *call, struct graph_values *values);
void graph_away(void *g, const struct hodo_read_call *call); /* the op of hodo_read_calls_ops */

/* graph_spans.c: spans and events, in two steps: what they are is known when they come, where they stand when they are
 * shown, which in threads whose calls are known at their end only is later. */
/* other: of a span whose end does not come any more, the end that is to be shown before the event; its span is NULL if
 * there is none. */
void graph_span_pair(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e,
		     struct graph_event *event, struct graph_event *other);
/* depth: calls around it. e: the event of JSON; NULL: lines, of the text. */
void graph_show_event(struct graph *g, struct graph_thread *t, const struct graph_event *event,
		      const struct hodo_read_event *e, uint32_t depth);
/* A call ends now: of spans that began in it. left: by a jump. True: one of them goes on. */
bool graph_spans_pass(struct graph *g, const struct graph_open *call, int64_t end_ns, bool left);
/* At the end of the recording: those of a thread that began in the call, or all: NULL. */
void graph_spans_close(struct graph *g, struct graph_thread *t, const struct graph_open *call, int64_t end_ns);

/* graph_values.c */
/* False: the event is none of those. */
bool graph_values_keep(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e);
/* The text, if it is of that function, and valid until the thread's next; NULL: none. Nothing is kept then. */
const char *graph_values_take(struct graph_values *v, const char *function);
void graph_values_free(struct graph_thread *t);

/* graph_complete.c */
void graph_complete_call(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call);
void graph_complete_event(struct graph *g, struct graph_thread *t, const struct graph_event *event); /* copies it */
void graph_complete_show(struct graph *g, struct graph_thread *t); /* what is kept, and forgets it */
void graph_complete_free(struct graph_thread *t);

#endif
