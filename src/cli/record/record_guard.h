/* SPDX-License-Identifier: MIT */
/*
 * record_guard.h - lowers semaphores when the recorder is killed. An attached process notices by its
 * connection; a started one, and children, have none. The guard is a process that does nothing until the
 * recorder is gone: then it becomes 'hodo detach' for the processes that the recorder has named, if they live
 * and nobody else records them.
 */
#pragma once

#include <sys/types.h>

/* All zero: there is none. */
struct hodo_record_guard {
	pid_t pid; /* the guard's; negative: it could not be started, and the recording continues without */
	int fd;    /* to it */
};

/* The process has raised semaphores. The first one starts the guard. */
void hodo_record_guard_add(struct hodo_record_guard *g, pid_t pid);
/* The recording has ended, and so does the guard. */
void hodo_record_guard_end(struct hodo_record_guard *g);
