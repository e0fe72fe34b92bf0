/* SPDX-License-Identifier: MIT */
/*
 * switches.h - events of the kernel's trace about threads that come to a CPU and leave it.
 *
 *	sched:sched_switch                      both, of two threads: the module's
 *	sched:switch_in, sched:switch_out       one thread's: the recorder's own, from perf events (record --off-cpu)
 *	sched:watched                           the recorder's own: from here on the thread's switches are recorded
 *	sched:sched_waking, sched_wakeup, sched_wakeup_new
 */
#pragma once

#include <hodo/read.h>

/* Why a thread left its CPU. */
enum hodo_sched_why {
	HODO_SCHED_PREEMPTED, /* it was runnable: another one ran instead */
	HODO_SCHED_SLEEPS,    /* waits, and signals wake it */
	HODO_SCHED_BLOCKED,   /* waits uninterruptibly: most often for a disk or a lock of the kernel */
	HODO_SCHED_STOPPED,   /* stopped or traced */
	HODO_SCHED_ENDED,     /* has ended */
	HODO_SCHED_WAITS,     /* one of the last four, not known which */
	HODO_SCHED_UNKNOWN
};

enum hodo_sched_kind {
	HODO_SCHED_NOTHING,
	HODO_SCHED_SWITCH,
	HODO_SCHED_SWITCH_OUT,
	HODO_SCHED_SWITCH_IN,
	HODO_SCHED_WATCHED,
	HODO_SCHED_WAKING,
	HODO_SCHED_WAKEUP,
	HODO_SCHED_WAKEUP_NEW
};

/* Where the fields of an event class are; -1: it has none. */
struct hodo_sched_class {
	enum hodo_sched_kind kind;
	int tid;   /* of SWITCH the thread that leaves, of wake-ups the one that wakes; else the event's thread */
	int next;  /* of SWITCH: the thread that comes */
	int state; /* of SWITCH and SWITCH_OUT: why it leaves */
};

void hodo_sched_bind(struct hodo_sched_class *bound, const struct hodo_read_class *cls);

/* For an event of the class: its thread, the thread that comes, and why the first one leaves. */
uint32_t hodo_sched_tid(const struct hodo_sched_class *bound, const struct hodo_read_event *e);
uint32_t hodo_sched_next(const struct hodo_sched_class *bound, const struct hodo_read_event *e);
enum hodo_sched_why hodo_sched_why(const struct hodo_sched_class *bound, const struct hodo_read_event *e);
