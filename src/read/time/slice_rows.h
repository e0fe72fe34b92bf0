/* SPDX-License-Identifier: MIT */
/*
 * slice_rows.h - spans and calls as tables have them: a slice of the timeline, whatever pieces it was split into, is
 * one row when it is over; a call when hodo_read_calls() says so, with the times and the end that this gives. All
 * tables of spans and calls are made of these (docs/design/tables.md).
 *
 * Called from the timeline's ops of the same names, for all of its slices.
 */
#pragma once

#include "timeline.h"

#include <base/arena.h>

struct hodo_slice_row {
	enum hodo_slice_kind kind; /* SPAN, ASYNC, CALL */
	const char *word;          /* "span", "syscall", "async", "call" */
	const char *state;         /* "ended", "left", "open", "end_lost", "exit_lost", "no_exit" */
	bool known;                /* when it ended: end_ns, self_ns */
	/* Where it began. */
	const struct hodo_read_process *process;
	uint32_t pid, tid;
	const char *comm;
	int32_t cpu; /* INT32_MIN: not known */
	const char *name;   /* of a call NULL, if nobody knows it */
	const char *object; /* of a call; NULL: not known */
	uint64_t function;
	uint32_t depth;
	int64_t begin_ns, end_ns, self_ns; /* a call's self_ns: outside the calls that it makes */
	int64_t off_cpu_ns; /* -1: not known */
	int64_t id, parent_id; /* parent_id 0: it is inside of nothing */
	const char *parent; /* its name */
	uint32_t end_tid;   /* ASYNC, ended */
	/* The class of the event that began it, and its values: the context's, then the fields. NULL: none are kept. */
	const struct hodo_read_class *cls;
	struct hodo_read_value *values;
	/* The caller's. */
	bool taken;
	struct hodo_slice_row *next;
	/* slice_rows.c's. */
	size_t room; /* of values, which the next row in the same place has, too */
	struct hodo_slice_row *older;
};

struct hodo_slice_rows {
	bool values; /* of fields: somebody wants them */
	int64_t ids;
	struct hodo_arena memory;
	struct hodo_slice_row *free, *newest; /* newest: of all */
};

/* ids begin with the recording's identity. */
void hodo_slice_rows_init(struct hodo_slice_rows *r, const struct hodo_read *reader, bool values);
void hodo_slice_rows_free(struct hodo_slice_rows *r); /* all zero is allowed */

/* Its row, which it has in slice->whole until it is over: 0 or -ENOMEM. */
int hodo_slice_rows_begin(struct hodo_slice_rows *r, struct hodo_slice *slice, const struct hodo_read_event *event);
/* The row that is complete by this, to be given back; NULL: it is not over, is a call, or has no row. */
struct hodo_slice_row *hodo_slice_rows_end(struct hodo_slice *slice, const struct hodo_read_event *event);
struct hodo_slice_row *hodo_slice_rows_call(struct hodo_slice *slice, const struct hodo_read_call *call);
void hodo_slice_rows_done(struct hodo_slice_rows *r, struct hodo_slice_row *row);
