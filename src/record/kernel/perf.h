/* SPDX-License-Identifier: MIT */
/*
 * perf.h - the kernel's records of threads that come to a CPU and leave it, through perf_event_open(2), for
 * one's own processes without root.
 *
 *   who      writes                    beside
 *   kernel   data_head, records        the reader
 *   reader   data_tail                 the kernel, which reuses what lies before it
 *
 * Each watched thread has an event on each CPU, which its children inherit; everything on a CPU goes into one
 * buffer, in order. A record is copied before data_tail passes it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <base/why.h>

struct hodo_perf;

enum hodo_perf_kind {
	HODO_PERF_IN,     /* the thread comes to the CPU */
	HODO_PERF_OUT,    /* it leaves it */
	HODO_PERF_NAMED,  /* its name is comm from now on; a new thread: its parent's name */
	HODO_PERF_LOST    /* `lost` records were not written, before this time */
};

struct hodo_perf_record {
	enum hodo_perf_kind kind;
	bool preempted;      /* OUT: it could have run on; else it waits for something */
	uint32_t pid, tid;   /* in our pid namespace */
	uint32_t parent;     /* NAMED, comm empty: the thread that created it */
	int64_t mono_ns;     /* CLOCK_MONOTONIC */
	uint64_t lost;
	char comm[16];
};

/* Whether our threads can be watched here: 0; or a negative errno, and a line: why not, and what to do. */
int hodo_perf_check(struct hodo_why *why);

/* For CPUs 0 … cpus - 1. 0 or a negative errno. */
int hodo_perf_open(struct hodo_perf **perf, uint32_t cpus);
void hodo_perf_close(struct hodo_perf *perf); /* NULL is allowed */

/* Watches a thread, and all that it will create, from now on. 0, or a negative errno: it is not watched. */
int hodo_perf_watch(struct hodo_perf *perf, pid_t tid);

/*
 * Notes how far each buffer is filled: hodo_perf_take() reads up to there. All that it gives happened before
 * this call.
 */
void hodo_perf_look(struct hodo_perf *perf);

/*
 * Gives what has happened on the CPU since the last time, in order. Returns how many 16ths of its buffer that
 * was.
 */
int hodo_perf_take(struct hodo_perf *perf, uint32_t cpu,
		   void (*take)(void *arg, uint32_t cpu, const struct hodo_perf_record *record), void *arg);
