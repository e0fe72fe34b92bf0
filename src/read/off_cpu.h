/* SPDX-License-Identifier: MIT */
/*
 * off_cpu.h - how long a thread did not run between two of its events.
 *
 * Known from the kernel's switch events (switches.h), or from what the events themselves say of their thread's CPU time
 * (record --context cpu_time). Never a guess: where a switch is missing it is not known.
 */
#ifndef HODO_READ_OFF_CPU_H
#define HODO_READ_OFF_CPU_H

#include "internal.h"

struct hodo_off_cpu;

/* What stands of a thread at one of its events. */
struct hodo_off_mark {
	int64_t ts_ns;
	uint64_t off_ns, waits, preempted; /* of the thread so far, by its switches */
	uint64_t cpu_ns;
	bool has_cpu_ns;
};

struct hodo_off_cpu *hodo_off_cpu_new(void); /* NULL: no memory */
void hodo_off_cpu_free(struct hodo_off_cpu *off); /* NULL is allowed */
/* Before the first event again. */
void hodo_off_cpu_rewind(struct hodo_off_cpu *off);

/* Each event of the kernel's, in order. 0 or -ENOMEM. */
int hodo_off_cpu_event(struct hodo_off_cpu *off, const struct hodo_read_event *event);

/* At an event of a process. */
void hodo_off_cpu_mark(struct hodo_off_cpu *off, const struct hodo_read_event *event, struct hodo_off_mark *mark);
/* … that the same thread had later; false: it is not known. */
bool hodo_off_cpu_since(struct hodo_off_cpu *off, const struct hodo_read_event *event,
			const struct hodo_off_mark *mark, struct hodo_read_off_cpu *result);

#endif
