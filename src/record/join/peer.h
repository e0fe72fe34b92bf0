/* SPDX-License-Identifier: MIT */
/*
 * peer.h - talks to a process that listens, or to a recorder (abi.h, section 4).
 */
#pragma once

#include <sys/types.h>

#include <base/why.h>
#include <hodo/abi.h>

/*
 * Opens the process pid: a descriptor as from pidfd_open(2), or a negative errno with a line for the user in
 * why: -ESRCH no such process, -EPERM another user's, -EINVAL a thread, or the kernel's.
 */
int hodo_peer_open(pid_t pid, struct hodo_why *why);

/*
 * Connects to the process pid, which must be ours, or we root, and still be the one behind pidfd. The
 * connection; -ECONNREFUSED: it does not listen; or another negative errno, with a line for the user in why.
 */
int hodo_peer_connect(pid_t pid, int pidfd, struct hodo_why *why);

/*
 * Asks and waits for the answer, at most two seconds, or for a plan two minutes. text may be NULL. passed:
 * the descriptor that came with the answer, or -1; NULL: none is allowed. 0 if there is an answer, whatever
 * its result; else a negative errno.
 */
int hodo_peer_ask(int fd, enum hodo_control_op op, uint32_t pid, uint32_t next, const char *text,
		  struct hodo_msg_answer *answer, int *passed);

/*
 * Asks the recorder whose socket is at path. 0 and the answer; -ENOENT: it does not record that process, or not so
 * many; -EAGAIN: not yet; -ECONNREFUSED: there is no recorder; another negative errno. passed: as of hodo_peer_ask().
 */
int hodo_recorder_ask(const char *path, enum hodo_control_op op, pid_t pid, uint32_t next, const char *text,
		      struct hodo_msg_answer *answer, int *passed);

/* "PID is recorded by hodo (process N) already: …": what an answer of -EBUSY and the like means, and what to do. */
void hodo_peer_refusal(pid_t pid, enum hodo_control_op op, const struct hodo_msg_answer *answer,
		       struct hodo_why *why);
