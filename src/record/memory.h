/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the memory of a recording is handed to somebody who makes a
 * snapshot of it (HODO_CONTROL_MEMORY, abi.h): asked for and given.
 */
#ifndef HODO_RECORD_MEMORY_H
#define HODO_RECORD_MEMORY_H

#include <hodo/abi.h>

#include "session.h"

/* For an answer (control.c): the descriptor, open for reading only, which becomes the caller's, or a negative errno.
 * The kernel itself hands out the memory of its own events. */
int hodo_memory_give(const struct hodo_session *s, const struct hodo_process *p, struct hodo_msg_answer *a);

/*
 * Asks the recorder whose socket is at path for the memory of a process, or of all one by one (pid 0).
 * The descriptor, open for reading only; -ENOENT: it does not record that process, or not so many; -EAGAIN: not yet;
 * -EOPNOTSUPP: it keeps everything; -ECONNREFUSED: there is no recorder; or another negative errno.
 */
int hodo_memory_ask(const char *path, pid_t pid, uint32_t next, const char *why, struct hodo_msg_answer *answer);

/* A memory that has come with an answer, mapped. */
struct hodo_memory {
	int fd;
	const uint8_t *shm;
	struct hodo_layout layout;
	struct hodo_flight flight; /* checked */
	uint32_t pid;              /* as the process sees it */
};

/* Checks and maps it; takes the descriptor. 0, or negative errno: -EPROTO: it is not what it should be. */
int hodo_memory_map(struct hodo_memory *m, const struct hodo_msg_answer *answer, int fd);
void hodo_memory_unmap(struct hodo_memory *m);

#endif
