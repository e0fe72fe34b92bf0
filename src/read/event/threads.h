/* SPDX-License-Identifier: MIT */
/* threads.h - the threads of a recorded process. */
#ifndef HODO_READ_EVENT_THREADS_H
#define HODO_READ_EVENT_THREADS_H

#include <hodo/read.h>

/* A thread in the recording; with the last name that it had. NULL: not known. */
const struct hodo_read_thread *hodo_read_thread(const struct hodo_read_process *process, uint32_t tid);
/* The last name of an event's thread, such as for its track. */
const char *hodo_read_thread_name(const struct hodo_read_event *event);

/* The name of a thread at the time of the last event given; valid as long as the reader. NULL: not known. */
const char *hodo_read_thread_comm(const struct hodo_read_process *process, uint32_t tid);

#endif
