/* SPDX-License-Identifier: MIT */
/*
 * off_cpu.h - how long a thread did not run between two of its events.
 *
 * Known from the kernel's switch events (switches.h), or from the CPU time in the events themselves (record
 * --context cpu_time). Never a guess: if a switch is missing, it is not known.
 */
#ifndef HODO_READ_EVENT_OFF_CPU_H
#define HODO_READ_EVENT_OFF_CPU_H

#include <base/text.h>
#include <hodo/read.h>

struct hodo_off_cpu;

/* Whether the recording has any of this. */
bool hodo_off_cpu_recorded(const struct hodo_read *reader);

/* The state of a thread at one of its events. */
struct hodo_off_mark {
	int64_t ts_ns;
	uint64_t off_ns, waits, preempted; /* of the thread so far, from its switches */
	uint64_t cpu_ns;
	bool has_cpu_ns;
};

struct hodo_off_cpu *hodo_off_cpu_new(void); /* NULL: no memory */
void hodo_off_cpu_free(struct hodo_off_cpu *off); /* NULL is allowed */
/* Before rereading from the first event. */
void hodo_off_cpu_rewind(struct hodo_off_cpu *off);

/* Takes each event of the kernel, in order. 0 or -ENOMEM. */
int hodo_off_cpu_event(struct hodo_off_cpu *off, const struct hodo_read_event *event);

/* At an event of a process. */
void hodo_off_cpu_mark(struct hodo_off_cpu *off, const struct hodo_read_event *event, struct hodo_off_mark *mark);
/* … that the same thread had later; false: it is not known. */
bool hodo_off_cpu_since(struct hodo_off_cpu *off, const struct hodo_read_event *event,
			const struct hodo_off_mark *mark, struct hodo_read_off_cpu *result);

/* Appends " off_cpu=1.234ms waits=1 preempted=0" (text_line.c). */
void hodo_read_add_off_cpu(struct hodo_text *text, const struct hodo_read_off_cpu *off);

#endif
