/* SPDX-License-Identifier: MIT */
/*
 * complete_calls.h - the calls of a thread that are known only at their end (HODO_READ_CALL_WHOLE). Inner
 * ones end, and are reported, before outer ones: they are kept until no call encloses them, then visited as a
 * tree.
 */
#ifndef HODO_READ_TIME_COMPLETE_CALLS_H
#define HODO_READ_TIME_COMPLETE_CALLS_H

#include <hodo/read.h>
#include <stdbool.h>

#include <read/event/losses.h>

struct hodo_complete_call;

/*
 * Whether a call of a thread that ended at ended_ns is inside the next one that ends at a smaller depth, entered at
 * entry_ns and ended at end_ns. It is, whatever the times, unless what it was inside of is lost: the duration of a call
 * is exact, but its end is when the event was written, some ns later, or ms if the thread was preempted. So its entry
 * may seem to be later than that of a call inside it, or than its end.
 */
static inline bool hodo_complete_inside(const struct hodo_read_process *process, int64_t ended_ns, int64_t entry_ns,
					int64_t end_ns)
{
	return ended_ns > entry_ns || !hodo_losses_between(process, HODO_LOSSES_ANY_CPU, ended_ns, end_ns);
}

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
/* Visits all in the order in which they were called, and forgets them. */
void hodo_complete_calls_visit(struct hodo_complete_calls *kept, const struct hodo_complete_ops *ops, void *data);
void hodo_complete_calls_free(struct hodo_complete_calls *kept);

#endif
