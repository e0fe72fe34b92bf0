/* SPDX-License-Identifier: MIT */
/* threads.h - the threads of a recorded process. */
#ifndef HODO_READ_THREADS_H
#define HODO_READ_THREADS_H

#include <hodo/read.h>

/* What the recording says of a thread; its name is the last one that it had. NULL: nothing. */
const struct hodo_read_thread *hodo_read_thread(const struct hodo_read_process *process, uint32_t tid);
/* What stands for the thread of an event as a whole, as the name of its track: its last name. */
const char *hodo_read_thread_name(const struct hodo_read_event *event);

/* The name of a thread at the time of the event that was given last; lives as long as the reader. NULL: not known. */
const char *hodo_read_thread_comm(const struct hodo_read_process *process, uint32_t tid);

#endif
