/* SPDX-License-Identifier: MIT */
/*
 * lend.h - hands the memory of a recording to a process that makes a snapshot of it (HODO_CONTROL_MEMORY,
 * abi.h): both sides.
 */
#pragma once

#include <sys/types.h>

#include <hodo/abi.h>

struct hodo_process;
struct hodo_recorder;

/* For an answer (control.c): the read-only descriptor, which the caller owns, or a negative errno. The kernel
 * itself hands out the memory of its events. */
int hodo_lend(const struct hodo_recorder *s, const struct hodo_process *p, struct hodo_msg_answer *a);

/*
 * Asks the recorder whose socket is at path for the memory of a process, or of all one by one (pid 0). The
 * read-only descriptor; -ENOENT: it does not record that process, or not so many; -EAGAIN: not yet;
 * -EOPNOTSUPP: it keeps everything; -ECONNREFUSED: there is no recorder; or another negative errno.
 */
int hodo_lent_ask(const char *path, pid_t pid, uint32_t next, const char *why, struct hodo_msg_answer *answer);

/* A memory received with an answer, mapped. */
struct hodo_lent {
	int fd;
	const uint8_t *shm;
	struct hodo_layout layout;
	struct hodo_flight flight; /* checked */
	uint32_t pid;              /* as the process sees it */
};

/* Checks and maps it; takes the descriptor. 0, or negative errno: -EPROTO: it is not valid. */
int hodo_lent_map(struct hodo_lent *m, const struct hodo_msg_answer *answer, int fd);
void hodo_lent_unmap(struct hodo_lent *m);
