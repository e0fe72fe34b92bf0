/* SPDX-License-Identifier: MIT */
/*
 * record_guard.h - who takes semaphores down when the recorder is killed. A process that was attached to notices by its
 * connection; one that was started, and children, have none. The guard is a process that does nothing until the
 * recorder is no more: then it becomes 'hodo detach' of the processes that the recorder has named, as far as they live
 * and nobody else records them.
 */
#ifndef HODO_CLI_RECORD_GUARD_H
#define HODO_CLI_RECORD_GUARD_H

#include <sys/types.h>

/* All zero: there is none. */
struct hodo_record_guard {
	pid_t pid; /* its own; negative: it could not be made, and all goes on without */
	int fd;    /* to it */
};

/* The process has semaphores that are up. With the first one there is a guard. As hodo_session_config has it. */
void hodo_record_guard_add(void *guard, pid_t pid);
/* The recording has ended, and so does the guard. */
void hodo_record_guard_end(struct hodo_record_guard *g);

#endif
