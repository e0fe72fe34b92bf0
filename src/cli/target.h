/* SPDX-License-Identifier: MIT */
/* target.h - a running process that a verb talks to. */
#ifndef HODO_CLI_TARGET_H
#define HODO_CLI_TARGET_H

#include <hodo/abi.h>
#include <sys/types.h>

#include <record/record.h>

#define HODO_WHY_MAX 1024 /* bytes of a line that says why not, and what to do */

struct hodo_target {
	pid_t pid;
	int pidfd; /* -1: none */
	int fd;    /* the connection; -1: it does not listen, or is not connected any more */
	char why[HODO_WHY_MAX]; /* what failed last of what is below */
};

/* A process's number from the command line. 0, or the exit status, having said what is wrong. */
int hodo_target_parse(const char *verb, const char *text, pid_t *pid);

/* Finds the process and connects to it if it listens. 0; -ECONNREFUSED: it does not (the pidfd is open then); another
 * negative errno. */
int hodo_target_open(struct hodo_target *t, pid_t pid);

/* Brings libhodo into it if need be, makes it listen, and connects. 0 or negative errno. */
int hodo_target_inject(struct hodo_target *t);

/*
 * For a verb that changes a recording: connects, makes it listen if it does not but has libhodo; without that
 * there is nothing to change. 0 or negative errno.
 */
int hodo_target_control(struct hodo_target *t, pid_t pid);

/* Asks; 0 and the answer, whose result is not negative; else a negative errno. passed may be NULL. */
int hodo_target_ask(struct hodo_target *t, enum hodo_control_op op, const char *text,
		    struct hodo_msg_answer *answer, int *passed);

/*
 * Begins the recording of the process, which must be connected, in the session: both descriptors
 * are the session's if it returns 0. The conversation goes on in hodo_session_step().
 */
int hodo_target_record(struct hodo_target *t, struct hodo_session *s);

void hodo_target_close(struct hodo_target *t);

#endif
