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
#include <export/function_names.h>

struct graph_options {
	const char *dir;
	const char *since, *until, *thread, *function;
	int64_t since_ns, until_ns;
	uint64_t depth, min_time_ns;
	enum hodo_color color;
	bool json, times, quiet, no_pager;
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
	bool away;      /* told that it was left, or waits */
	struct graph_call *next; /* free ones */
};

struct graph_thread {
	const struct hodo_read_process *process;
	uint32_t tid;
	const char *comm;
	bool wanted;
	struct graph_call **held; /* calls without a line */
	uint32_t nheld, held_room;
	struct graph_call *root; /* --function: the outermost call of it; NULL: in none */
	bool whole; /* its calls are known at their end only */
	struct graph_item *items; /* then: graph_whole.c's */
	uint32_t *roots;          /* of the items, those inside of no other */
	uint32_t nitems, nroots, items_room;
	struct graph_thread *next; /* of the same hash */
};

#define GRAPH_HASH 1024u

struct graph {
	const struct graph_options *o;
	struct hodo_symbols *symbols;
	struct hodo_read_calls *calls;
	struct graph_thread *hash[GRAPH_HASH];
	struct graph_call *free;
	struct hodo_read_text *text; /* of one event or name */
	char *out;                   /* lines that are not written yet */
	size_t len, room;
	uint32_t nitems; /* of all threads */
	bool color, columns;         /* columns: tid and comm */
	bool no_memory;
};

/* graph_text.c */
void graph_put(struct graph *g, const char *s, size_t len);
void graph_put_name(struct graph *g, const char *name); /* control bytes escaped */
void graph_title(struct graph *g);
enum graph_line { GRAPH_OPENS, GRAPH_CLOSES, GRAPH_LEAF, GRAPH_ONLY_END };
/* note: "left" and the like; NULL: none. depth: of the line. duration_ns < 0: none. */
void graph_line(struct graph *g, const struct graph_call *c, enum graph_line line, uint32_t depth, int64_t ts_ns,
		int64_t duration_ns, const char *note);
/* An event's name and fields as print has them; valid until the next name is put. */
const char *graph_event_text(struct graph *g, const struct hodo_read_event *e, size_t *len);
void graph_comment_text(struct graph *g, const struct graph_thread *t, int64_t ts_ns, const char *text, uint32_t depth);
void graph_comment(struct graph *g, const struct graph_thread *t, const struct hodo_read_event *e, uint32_t depth);

/* graph_whole.c */
void graph_whole_call(struct graph *g, struct graph_thread *t, const struct hodo_read_call *call, const char *name);
void graph_whole_event(struct graph *g, struct graph_thread *t, const struct hodo_read_event *e);
void graph_whole_show(struct graph *g, struct graph_thread *t); /* what is kept, and forgets it */
void graph_whole_drop(struct graph *g, struct graph_thread *t);

#endif
