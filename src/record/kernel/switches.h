/* SPDX-License-Identifier: MIT */
/*
 * switches.h - when the recorded threads ran: the kernel's records of that (perf.h) as events in a folder
 * like the kernel's (kernel.h), which the recorder writes itself:
 *
 *	sched:watched           from here on the switches of the event's thread are recorded
 *	sched:switch_in         it comes to the CPU
 *	sched:switch_out        it leaves it; preempted: else it waits for something
 */
#pragma once

#include <sys/types.h>

#include <base/why.h>

struct hodo_recorder;

/* Whether they are available here: 0; or a negative errno, and a line that says why not and what to do. */
int hodo_switches_check(struct hodo_why *why);

/* Gives the recorder a folder of them. 0; or a negative errno and a line in why. */
int hodo_recorder_add_switches(struct hodo_recorder *s, struct hodo_why *why);

/*
 * Watches a process's threads, and all that it will start: call it before a running process is adopted, and
 * before the command execs. Failure is reported. Does nothing if the recorder has no folder of them.
 */
void hodo_switches_watch(struct hodo_recorder *s, pid_t pid);

/* Takes what there is. Returns how many 16ths of the fullest buffer that was. */
int hodo_switches_take(struct hodo_recorder *s);
/* Before the recorder's processes are finished: takes the rest. */
void hodo_switches_end(struct hodo_recorder *s);
