/* SPDX-License-Identifier: MIT */
/*
 * graph.h - hodo graph: from calls and events to lines.
 *
 * A call's line comes when it is known to have one: of a call that made none itself
 * there is one line, and of one that took less than --min-time none. So
 * each thread holds the calls back that are open and have no line yet, the
 * outermost first; nothing else is kept.
 */
#ifndef HODO_CLI_GRAPH_H
#define HODO_CLI_GRAPH_H

#include "cli.h"
#include <base/map.h>
#include <base/text.h>
#include <export/symbols.h>
#include <read/complete_calls.h>

struct graph_options {
	struct hodo_args args;
	const char *function;
	uint64_t depth;
	int64_t min_time_ns;
	bool times;
};

struct graph_thread;

/* A call that is open. */
struct graph_call {
	struct graph_thread *thread;
	const char *name;
	int64_t entry_ns;
	uint32_t depth;
	uint32_t flags; /* HODO_READ_CALL_* */
	bool begun;     /* its opening line is written */
	char *arguments; /* NULL: not known */
	bool away;      /* it has a line that it was left, has lost its exit, or waits */
	struct graph_call *next; /* free ones */
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
	struct graph_call **held; /* calls without a line */
	uint32_t nheld, held_room;
	struct graph_values arguments, result;
	struct graph_call *root; /* --function: the outermost call of it; NULL: in none */
	bool complete; /* its calls are known at their end only */
	struct hodo_complete_calls calls; /* then: those that have no lines yet */
	struct graph_event *events;       /* … and events */
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
	struct hodo_arena calls_kept; /* struct graph_call */
	struct graph_call *free;
	struct hodo_read_text *text; /* of one event or name */
	struct hodo_text out;        /* lines */
	uint32_t kept; /* calls and events without lines, of all complete threads */
	bool color, columns;         /* columns: tid and comm */
};

static inline bool graph_in_time(const struct graph *g, int64_t ts_ns)
{
	return ts_ns >= g->o->args.since_ns;
}

/* The depth that is shown: with --function that function's is 0. */
static inline uint32_t graph_depth(const struct graph_thread *t, uint32_t depth)
{
	return t->root && depth >= t->root->depth ? depth - t->root->depth : depth;
}

/* graph_text.c */
void graph_title(struct graph *g);
enum graph_line { GRAPH_OPENS, GRAPH_CLOSES, GRAPH_LEAF, GRAPH_ONLY_END };
/* note: "left", "exit lost" and the like; NULL: none. result: as graph_values_take() has it. depth: of the line.
 * duration_ns < 0: none. */
void graph_line(struct graph *g, const struct graph_call *c, enum graph_line line, uint32_t depth, int64_t ts_ns,
		int64_t duration_ns, const char *note, const char *result);
/* An event's name and fields as print has them; valid until the next name is put. */
const char *graph_event_text(struct graph *g, const struct hodo_read_event *e, size_t *len);
/* text: what graph_event_text() said of the event. */
void graph_comment_line(struct graph *g, const struct graph_thread *t, int64_t ts_ns, const char *text, size_t len,
			uint32_t depth);

void graph_json_call(struct graph *g, const struct graph_call *c, const struct hodo_read_call *call,
		     const char *result);
void graph_json_event(struct graph *g, const struct hodo_read_event *e, uint32_t depth);
void graph_json_summary(struct graph *g, const struct hodo_read *r);

/* graph_calls.c: lines as calls and events come, in order */
void graph_enter(struct graph *g, struct graph_thread *t, struct hodo_read_call *call);
/* values: of the thread whose record of now is the call's exit; NULL: no record is. */
void graph_leave(struct graph *g, const struct hodo_read_call *call, struct graph_values *values);
void graph_away(void *g, const struct hodo_read_call *call); /* the op of hodo_read_calls_ops */
/* e: NULL if the event is not at hand any more, but its text is. */
void graph_comment(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e, int64_t ts_ns,
		   const char *text, uint32_t depth);

/* graph_values.c */
/* False: the event is none of those. */
bool graph_values_keep(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e);
/* The text, if it is of that function, and valid until the thread's next; NULL: none. Nothing is kept then. */
const char *graph_values_take(struct graph_values *v, const char *function);
void graph_values_free(struct graph_thread *t);

/* graph_complete.c */
void graph_complete_call(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call);
void graph_complete_event(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e);
void graph_complete_show(struct graph *g, struct graph_thread *t); /* what is kept, and forgets it */
void graph_complete_free(struct graph_thread *t);

#endif
