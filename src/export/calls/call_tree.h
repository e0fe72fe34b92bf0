/* SPDX-License-Identifier: MIT */
/*
 * call_tree.h - the basis of profiles: the paths of spans and calls on threads' tracks, with the total time
 * spent in each; and, if requested, the slices of each thread one by one.
 *
 * Memory is bounded. Paths beyond HODO_CALL_NODES_MAX, and deeper than HODO_CALL_DEPTH_MAX, are added up in
 * HODO_CALL_OTHER below the last one that has room: outer paths always have their time.
 */
#pragma once

#include <export/export.h>

#define HODO_CALL_NODES_MAX  (1u << 19) /* plus as many HODO_CALL_OTHER, and one for each thread */
#define HODO_CALL_DEPTH_MAX  1024u
#define HODO_CALL_SLICES_MAX (1u << 21)
#define HODO_CALL_NONE       UINT32_MAX

enum hodo_call_kind { HODO_CALL_SPAN, HODO_CALL_FUNCTION, HODO_CALL_OTHER };

struct hodo_call_frame {
	uint64_t key; /* call_tree.c's */
	enum hodo_call_kind kind;
	const char *name;   /* not escaped */
	const char *object; /* path; "": not known */
	const char *file;   /* NULL: not known, or not requested */
	uint32_t line;
	uint32_t mapped;  /* the number of its object, whichever process mapped it; NONE: not known */
	uint64_t address; /* in the object's file */
};

struct hodo_call_node {
	union {
		uint64_t key;
		struct {
			uint32_t parent; /* always below its own index; NONE: a root */
			uint32_t frame;  /* unique for a root */
		};
	};
	uint32_t child, next; /* children in the order found; set at the end of reading */
	uint32_t depth;       /* of a root 0 */
	uint64_t calls, self_ns, total_ns; /* of a root 0 */
};

struct hodo_call_slice {
	int64_t begin_ns, end_ns; /* end_ns is INT64_MIN while it is open */
	uint32_t node;
	uint32_t extra; /* the caller's */
	uint16_t depth;
	bool span;
};

/* A thread. */
struct hodo_call_thread {
	const struct hodo_track *track;
	uint32_t root;
	uint64_t total; /* slices */
	struct hodo_call_slice *slices;
	uint32_t nslices, room;
	bool unsorted; /* some begin before an earlier one */
	void *user;    /* the caller's */
};

/* What gets its own root. */
enum hodo_call_group { HODO_CALL_BY_THREAD, HODO_CALL_BY_COMM };

struct hodo_call_options {
	enum hodo_call_group group;
	bool lines;  /* source files and lines are requested */
	bool slices; /* the slices are requested */
	uint32_t nodes_max, slices_max; /* 0: HODO_CALL_NODES_MAX, HODO_CALL_SLICES_MAX; no more than these */
	/* For what is not in the tree: begin and end of slices that are not on a thread's track, instant,
	 * counter, loss; and track, for tracks other than threads'. Any may be NULL. A non-zero result ends
	 * the reading with it. */
	struct hodo_timeline_ops also;
	/* NULL, or: called for each kept slice, to set its extra. */
	int (*extra)(void *data, const struct hodo_slice *slice, const struct hodo_read_event *event, uint32_t *extra);
	void *data; /* of both */
};

struct hodo_call_tree {
	const struct hodo_call_frame *frames;
	struct hodo_call_node *nodes;
	struct hodo_call_thread **threads; /* in the order found */
	uint32_t *roots;                   /* their nodes */
	const struct hodo_track **groups;  /* of each root, the first track of it */
	const struct hodo_read_object **objects; /* as first seen mapped */
	uint32_t nframes, nnodes, nthreads, nroots, nobjects;
	bool whole; /* slices were requested and are complete; else there are none */
	/* Counts of what is not in the tree, or not in its proper place. */
	uint64_t async, running, instants, values, deep, many;
	uint64_t end_lost; /* slices whose time may be too long: HODO_SLICE_END_LOST */
	struct hodo_timeline_totals totals; /* begin_ns: not after that of any slice */
};

/* Reads to the end. 0 or a negative errno. */
int hodo_call_tree_read(struct hodo_call_tree **tree, struct hodo_export *e, const struct hodo_call_options *options);
void hodo_call_tree_free(struct hodo_call_tree *tree); /* NULL is allowed */
/* Warns, by e->warn, about what a format without instants, counters, … omits. */
void hodo_call_tree_warn(const struct hodo_call_tree *tree, const struct hodo_export *e, const char *format);

/* An object's build-id in hexadecimal digits; "": none. */
#define HODO_CALL_BUILD_ID_TEXT (2 * sizeof(((struct hodo_read_object *)0)->build_id) + 1)
void hodo_call_build_id(const struct hodo_read_object *object, char text[HODO_CALL_BUILD_ID_TEXT]);

/* Visits all nodes below a root in order, each before and (leave) after those below it. The first result of
 * visit other than 0 ends the walk. */
int hodo_call_tree_walk(const struct hodo_call_tree *tree, uint32_t root,
			int (*visit)(void *data, uint32_t node, bool leave), void *data);

/* Visits begin and end of a thread's slices in order of time, properly nested: each end is that of the latest
 * begin. */
int hodo_call_thread_walk(struct hodo_call_thread *thread,
			  int (*op)(void *data, int64_t at_ns, const struct hodo_call_slice *slice, bool begin),
			  void *data);
