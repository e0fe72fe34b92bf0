/* SPDX-License-Identifier: MIT */
/*
 * complete_calls.h - the calls of a thread that are known only at their end (HODO_READ_CALL_WHOLE). Inner
 * ones end, and are reported, before outer ones: they are kept until no call encloses them, then visited as a
 * tree.
 */
#ifndef HODO_READ_COMPLETE_CALLS_H
#define HODO_READ_COMPLETE_CALLS_H

#include <hodo/read.h>
#include <stdbool.h>

struct hodo_complete_call;

/* Of one thread. All zero: none. */
struct hodo_complete_calls {
	struct hodo_complete_call *calls;
	uint32_t n, room;
};

struct hodo_complete_ops {
	/* outer: the call around it, entered last; NULL: none. first_ns: the earliest entry of it and the
	 * calls inside it, since times are not exact to the ns. False: skips it and the calls inside. */
	bool (*enter)(void *data, struct hodo_read_call *call, const struct hodo_read_call *outer, int64_t first_ns);
	/* For calls that were entered. index: how many of those visited together ended before this one. */
	void (*leave)(void *data, const struct hodo_read_call *call, const struct hodo_read_call *outer,
		      uint32_t index);
};

/* Keeps a call, as passed to the leave op of hodo_read_calls_ops. False: no memory. */
bool hodo_complete_calls_keep(struct hodo_complete_calls *kept, const struct hodo_read_call *call);
/* Visits all in the order in which they were called, and forgets them. lossy: events of the process were lost. */
void hodo_complete_calls_visit(struct hodo_complete_calls *kept, bool lossy, const struct hodo_complete_ops *ops,
			       void *data);
void hodo_complete_calls_free(struct hodo_complete_calls *kept);

#endif
