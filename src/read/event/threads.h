/* SPDX-License-Identifier: MIT */
/* threads.h - the threads of a recorded process. */
#pragma once

#include <base/intern.h>
#include <base/map.h>
#include <hodo/read.h>

struct hodo_class;

/* A thread in the recording; with the last name that it had. NULL: not known. */
const struct hodo_read_thread *hodo_read_thread(const struct hodo_read_process *process, uint32_t tid);

/* What is known of a thread at the time of the last event given, perhaps nothing. */
struct hodo_known_thread {
	bool is;
	uint32_t tid, pid; /* pid: from the metadata; 0: not known */
	uint32_t len;      /* of comm; UINT32_MAX: from no event */
	const char *comm;  /* NULL: not known; valid as long as the reader */
};

/* Names of a process's threads, as seen in events: those of the kernel. */
struct hodo_thread_names {
	struct hodo_known_thread recent[32]; /* by the last digits of the tid */
	struct hodo_map by_tid;
	struct hodo_strings texts;
	uint32_t changes;
};

/* Notes which of the fields of a class have names. */
void hodo_read_names_bind(struct hodo_class *c);
/* A thread that is none of the last ones. */
struct hodo_known_thread *hodo_read_know_thread(struct hodo_thread_names *names,
						const struct hodo_read_process *process, uint32_t tid);

/* What is known of a thread; valid until the next call. */
static inline struct hodo_known_thread *hodo_read_known_thread(struct hodo_thread_names *names,
							       const struct hodo_read_process *process,
							       uint32_t tid)
{
	struct hodo_known_thread *known = &names->recent[tid % 32];

	return known->is && known->tid == tid ? known : hodo_read_know_thread(names, process, tid);
}

void hodo_read_names_clear(struct hodo_thread_names *names); /* when reading begins */
/* Takes them from the values of a class with names. 0 or -ENOMEM. */
int hodo_read_names_learn(struct hodo_thread_names *names, const struct hodo_read_process *process,
			  const struct hodo_class *c, const struct hodo_read_value *values);
void hodo_read_names_free(struct hodo_thread_names *names);
