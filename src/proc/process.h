/* SPDX-License-Identifier: MIT */
/*
 * process.h - what /proc and the kernel say of a process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The text of a file in /proc/PID, such as "comm" or "task/TID/comm", as hodo_file_line() reads it. */
ssize_t hodo_proc_file(pid_t pid, const char *name, char *text, size_t size);

struct hodo_proc_stat {
	char state;
	unsigned long flags;
	uint64_t start_time; /* clock ticks after boot; pid and this together are unique */
	int exit_code;       /* of one that has ended */
};
/* From "stat" or "task/TID/stat". False: not available; then all zero. */
bool hodo_proc_stat(pid_t pid, const char *name, struct hodo_proc_stat *s);

/* The value after "NAME:" in a text of status, or NULL. */
const char *hodo_proc_field(const char *status, const char *name);

struct hodo_proc_status {
	pid_t tgid;             /* of the process that the thread belongs to */
	uint32_t vpid;          /* its number in its own pid namespace */
	bool nested;            /* it is in a pid namespace below ours */
	uid_t uid, euid, suid;  /* as we see them */
	gid_t egid;
	bool kernel;            /* a kernel thread */
};

/* 0, -ESRCH if there is no such process or thread, or another negative errno. */
int hodo_proc_status(pid_t pid, struct hodo_proc_status *status);

/* The value of a variable in the environment that the process was started with, if it can be read. */
bool hodo_proc_environment(pid_t pid, const char *name, char *value, size_t size);

/*
 * Whether another live process was started with this variable in its environment. A child forked just before
 * its parent ended joins a recording only when it is first scheduled: this finds it earlier.
 */
bool hodo_proc_any_has(const char *name, const char *value);

/* Whether it was started before we were. */
bool hodo_proc_older(pid_t pid);

/* The process's own id of the user whom we call uid (user namespaces). */
uid_t hodo_proc_inner_uid(pid_t pid, uid_t uid);

/* Whether its root directory differs from ours. */
bool hodo_proc_other_root(pid_t pid);
/* Its root directory (O_PATH): a descriptor, or a negative errno. */
int hodo_proc_root(pid_t pid);

bool hodo_proc_other_users(pid_t pid); /* whether it is in another user namespace */

/* Whether its abstract addresses differ from ours. */
bool hodo_proc_other_network(pid_t pid);

/* Whether the process behind pidfd has not ended. */
bool hodo_proc_lives(int pidfd);

/* How it ended, as far as a process other than its parent can know. */
enum hodo_ending {
	HODO_ENDING_UNKNOWN,
	HODO_ENDING_EXIT,
	HODO_ENDING_SIGNAL
};

/* status: from wait(). */
enum hodo_ending hodo_ending_of_status(int status);

/*
 * Of the process behind pidfd, which is readable. Until its parent has waited for it, /proc has it;
 * afterwards only the kernel (Linux 6.15 and later).
 */
enum hodo_ending hodo_ending_of(pid_t pid, int pidfd);
