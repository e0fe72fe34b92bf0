/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts the command to be recorded, in the state we were started
 * in ourselves but for the two variables of its environment.
 */
#ifndef HODO_RECORD_LAUNCH_H
#define HODO_RECORD_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What we changed for ourselves and the command gets back. */
struct hodo_launch {
	sigset_t mask;
	struct sigaction pipe, xfsz, chld;
	struct rlimit nofile;
	int timer_slack_ns;
};

/*
 * Readies this process: SIGPIPE and SIGXFSZ become errors of writing, SIGCHLD
 * reports children, the signals in blocked are blocked, descriptors are as
 * many as may be, timers exact.
 */
void hodo_launch_prepare(struct hodo_launch *l, const sigset_t *blocked);

/*
 * Finds libhodo.so: $HODO_LIBRARY, else where it lies beside this executable,
 * installed or in the build tree. 0, or negative errno with a line in error.
 */
int hodo_launch_library(char *path, size_t size, char *error, size_t error_size);

/*
 * Puts libhodo-func.so, which lies beside library, behind it, for LD_PRELOAD. A library of another name than
 * libhodo.so is left alone: it is for whoever chose it to know what is in it. 0, or negative errno with a line in
 * error.
 */
int hodo_launch_add_functions(char *library, size_t size, char *error, size_t error_size);

/*
 * The signals to be taken by a signalfd: SIGCHLD, SIGINT, and the others that end a program, but for such as were
 * ignored when we were started (nohup).
 */
void hodo_launch_signals(sigset_t *set);

/* Whether the command could be run: 0, -ENOENT, or -EACCES, as a shell would see it. found: its path, or NULL. */
int hodo_launch_find(const char *command, char *found);

/* Before the command is executed, in its process, which waits meanwhile. */
struct hodo_launch_before {
	void (*call)(void *arg, pid_t pid); /* NULL: nothing */
	void *arg;
};

/*
 * Runs argv. library (or several, with colons) and socket, unless NULL, go into the command's environment. 0 and its
 * pid, or the negative errno of fork or exec.
 */
int hodo_launch_start(const struct hodo_launch *l, char **argv, const char *library, const char *socket,
		      const struct hodo_launch_before *before, pid_t *pid);

/* Ends this process by the signal, without a core of its own. If that cannot be, the exit status that says so. */
int hodo_launch_die(int signal);

#endif
