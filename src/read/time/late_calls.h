/* SPDX-License-Identifier: MIT */
/*
 * late_calls.h - late calls: those of which only the end is recorded (HODO_READ_CALL_WHOLE), with how long they took.
 *
 * Inner ones end before outer ones: a call is inside the next one in its thread that ends at a smaller depth. It is,
 * whatever the times, unless what it was inside of is lost: the duration of a call is exact, but its end is when the
 * event was written, some ns later, or ms if the thread was preempted. So its entry may seem to be later than that of a
 * call inside it, or than its end.
 *
 * Ops get each when it ends, enter and leave together; or they are kept until the outermost one has ended, or there are
 * many, and then come as other calls do, in the order in which they were called.
 */
#pragma once

#include <hodo/read.h>
#include <stdbool.h>

/* A late call, as ops get it. */
struct hodo_late_call {
	struct hodo_read_call pub; /* first */
	uint64_t same_ns;  /* in leave: time that calls with its number (pub.user) inside it took, if sums are wanted */
	int64_t first_ns;  /* the earliest entry of it and the calls inside it */
	const struct hodo_read_call *outer; /* the call around it, entered last; NULL: none is known */
	uint32_t index;    /* how many of those kept with it ended before */
	bool last;         /* none of them ends later */
	uint32_t child, next; /* in its tree */
};

static inline const struct hodo_late_call *hodo_late_call(const struct hodo_read_call *call)
{
	return (const struct hodo_late_call *)(const void *)call;
}

/* What becomes of one that has ended; ops get the first two kinds. */
enum hodo_late { HODO_LATE_NOW, HODO_LATE_KEPT, HODO_LATE_SKIPPED };

#define HODO_LATE_MAX (1u << 20) /* kept, of all threads */

/*
 * choose: asked at the end of each, before its enter; NULL: NOW. sums: enter sets pub.user to a number of the call's
 * function, 0 for none, for same_ns.
 */
void hodo_calls_late(struct hodo_read_calls *calls,
		     enum hodo_late (*choose)(void *data, const struct hodo_late_call *call), bool sums);
/* Passes the thread's kept ones to ops now. */
void hodo_calls_late_pass(struct hodo_read_calls *calls, const struct hodo_read_process *process, uint32_t tid);
