/* SPDX-License-Identifier: MIT */
/*
 * scheduling.h - which threads ran where and which waited, from the kernel's sched events in a recording
 * (read/event/switches.h): sched_switch, and sched_waking, sched_wakeup, sched_wakeup_new if recorded; or switch_in
 * and switch_out of watched threads.
 */
#ifndef HODO_READ_EVENT_SCHEDULING_H
#define HODO_READ_EVENT_SCHEDULING_H

#include <hodo/read.h>
#include "switches.h"

struct hodo_sched;

const char *hodo_sched_why_text(uint32_t why); /* "preempted", …; never NULL */

/* A thread that was off its CPU and is on one again. */
struct hodo_sched_off {
	int32_t cpu; /* on which it runs now */
	uint32_t pid, tid;
	const char *comm;
	int64_t off_ns;   /* switched out; INT64_MIN: before the recording, or it is a new thread */
	int64_t woken_ns; /* made runnable; INT64_MIN: not known. Of a preempted one: off_ns */
	int64_t on_ns;    /* switched in */
	enum hodo_sched_why why;
	/*
	 * The thread that woke it, or that was interrupted by its waker; 0: an idle CPU, or not known, or it
	 * was preempted, not woken.
	 */
	uint32_t waker;
	const struct hodo_read_process *kernel; /* which says so: that of its host */
};

/* A thread that ran on a CPU. */
struct hodo_sched_ran {
	int32_t cpu;
	uint32_t pid;     /* of its process; 0: not known */
	uint32_t tid;     /* 0: the CPU was idle */
	const char *comm; /* its last name then; lives as long as the reader */
	int64_t begin_ns; /* since the epoch */
	int64_t end_ns;
	enum hodo_sched_why why; /* it ended; UNKNOWN: with the recording, or an event was lost */
	const struct hodo_sched_off *off; /* how it waited before, without comm; NULL: not known */
	const struct hodo_read_process *kernel;
};

struct hodo_sched_ops {
	/*
	 * In order for each CPU; NULL: not wanted. If events were lost, it ends when the thread was last
	 * seen.
	 */
	void (*ran)(void *data, const struct hodo_sched_ran *ran);
	void (*off)(void *data, const struct hodo_sched_off *off); /* in order of on_ns; NULL: not wanted */
};

struct hodo_sched *hodo_sched_new(const struct hodo_sched_ops *ops, void *data); /* NULL: no memory */
void hodo_sched_free(struct hodo_sched *sched);                                    /* NULL is allowed */
/* Takes the event that the reader gave last; events of other kinds are ignored, quickly. 0 or -ENOMEM. */
int hodo_sched_event(struct hodo_sched *sched, const struct hodo_read_event *event);
/* Ends what runs, as of ts_ns. 0 or -ENOMEM. */
int hodo_sched_end(struct hodo_sched *sched, int64_t ts_ns);
/* Threads forgotten because there were too many: their next activity may not have been reported. */
uint64_t hodo_sched_forgotten(const struct hodo_sched *sched);

#endif
