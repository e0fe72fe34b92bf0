/* SPDX-License-Identifier: MIT */
/*
 * complete_calls.h - the calls of a thread that are known at their end only (HODO_READ_CALL_WHOLE). Inner ones end, and
 * come, before those that they are inside of: they are kept until there is none around them, then visited as a tree.
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
	/* outer: what it is inside of, which was entered last; NULL: nothing. first_ns: the earliest entry of it and
	 * of what is inside of it, for times are not exact to the ns. False: it is left out, with what is inside. */
	bool (*enter)(void *data, struct hodo_read_call *call, const struct hodo_read_call *outer, int64_t first_ns);
	/* Of those that were entered. index: calls that ended before this one, of those visited together. */
	void (*leave)(void *data, const struct hodo_read_call *call, const struct hodo_read_call *outer,
		      uint32_t index);
};

/* Keeps a call as the leave op of hodo_read_calls_ops has it. False: no memory. */
bool hodo_complete_calls_keep(struct hodo_complete_calls *kept, const struct hodo_read_call *call);
/* Visits all in the order in which they were called, and forgets them. lossy: events of the process were lost. */
void hodo_complete_calls_visit(struct hodo_complete_calls *kept, bool lossy, const struct hodo_complete_ops *ops,
			       void *data);
void hodo_complete_calls_free(struct hodo_complete_calls *kept);

#endif
