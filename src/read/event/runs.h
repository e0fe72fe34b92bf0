/* SPDX-License-Identifier: MIT */
/*
 * runs.h - which threads ran where and which waited, from the kernel's sched events in a recording (switches.h):
 * sched_switch, and sched_waking, sched_wakeup, sched_wakeup_new if recorded; or switch_in and switch_out of watched
 * threads. And how long a thread did not run between two of its events, from these or from the CPU time in the events
 * themselves (record --context cpu_time): never a guess; if a switch is missing, it is not known.
 */
#pragma once

#include <base/text.h>
#include <hodo/read.h>
#include "switches.h"

struct hodo_runs;

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

struct hodo_runs_ops {
	/*
	 * In order for each CPU; NULL: not wanted. If events were lost, it ends when the thread was last
	 * seen.
	 */
	void (*ran)(void *data, const struct hodo_sched_ran *ran);
	void (*off)(void *data, const struct hodo_sched_off *off); /* in order of on_ns; NULL: not wanted */
};

struct hodo_runs *hodo_runs_new(const struct hodo_runs_ops *ops, void *data); /* ops may be NULL. NULL: no memory */
void hodo_runs_free(struct hodo_runs *runs);                                    /* NULL is allowed */
/* Before rereading from the first event. */
void hodo_runs_rewind(struct hodo_runs *runs);
/* Takes the event that the reader gave last; events of other kinds are ignored, quickly. 0 or -ENOMEM. */
int hodo_runs_event(struct hodo_runs *runs, const struct hodo_read_event *event);
/* Ends what runs, as of ts_ns. */
void hodo_runs_end(struct hodo_runs *runs, int64_t ts_ns);
/* Threads forgotten because there were too many: their next activity may not have been reported. */
uint64_t hodo_runs_forgotten(const struct hodo_runs *runs);

/* How long a thread has been off its CPUs so far, and how often: since since_ns none of its switches is missing. */
struct hodo_runs_sum {
	int64_t since_ns;
	uint64_t off_ns, waits, preempted;
	const struct hodo_read_process *kernel; /* which says so */
};
/* At an event of a process; false: nothing is known. */
bool hodo_runs_sum(struct hodo_runs *runs, const struct hodo_read_event *event, struct hodo_runs_sum *sum);

/* off_cpu.c: whether the recording has any of what off-CPU times come from. */
bool hodo_off_cpu_recorded(const struct hodo_read *reader);

/* The state of a thread at one of its events. */
struct hodo_runs_mark {
	int64_t ts_ns;
	struct hodo_runs_sum sum;
	uint64_t cpu_ns;
	bool has_cpu_ns;
};

/* At an event of a process. */
void hodo_runs_mark(struct hodo_runs *runs, const struct hodo_read_event *event, struct hodo_runs_mark *mark);
/* At a later event of the same thread: how long it did not run since the mark; false: not known. */
bool hodo_runs_since(struct hodo_runs *runs, const struct hodo_read_event *event, const struct hodo_runs_mark *mark,
		     struct hodo_read_off_cpu *result);
/* Appends " off_cpu=1.234ms waits=1 preempted=0" (text/text_line.c). */
void hodo_read_add_off_cpu(struct hodo_text *text, const struct hodo_read_off_cpu *off);
