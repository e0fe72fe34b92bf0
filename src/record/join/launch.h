/* SPDX-License-Identifier: MIT */
/*
 * launch.h - starts the command to be recorded, in the state in which we were started, except for two
 * environment variables.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <base/why.h>

/* What we changed for ourselves and restore for the command. */
struct hodo_launch {
	sigset_t mask;
	struct sigaction pipe, xfsz, chld;
	struct rlimit nofile;
	int timer_slack_ns;
};

/*
 * Prepares this process: SIGPIPE and SIGXFSZ become write errors, SIGCHLD reports children, the signals in
 * blocked are blocked, the limit of descriptors is raised, timers are exact.
 */
void hodo_launch_prepare(struct hodo_launch *l, const sigset_t *blocked);

/*
 * Finds libhodo.so: $HODO_LIBRARY, else beside this executable, installed or in the build tree. 0, or
 * negative errno with a line in why.
 */
int hodo_launch_library(char *path, size_t size, struct hodo_why *why);

/*
 * Appends libhodo-func.so, which is beside library, to it, for LD_PRELOAD. A library with another name than
 * libhodo.so is left alone: the user who chose it knows its contents. 0, or negative errno with a line in why.
 */
int hodo_launch_add_functions(char *library, size_t size, struct hodo_why *why);

/*
 * The signals for a signalfd: SIGCHLD, SIGINT, and the others that end a program, except for those ignored
 * when we were started (nohup).
 */
void hodo_launch_signals(sigset_t *set);

/* Whether the command could be run: 0, -ENOENT, or -EACCES, as a shell would see it. found: its path, or NULL. */
int hodo_launch_find(const char *command, char *found);

/* Called before the command is executed; its process waits meanwhile. */
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

/* Ends this process by the signal, without a core dump. If that fails, returns the equivalent exit status. */
int hodo_launch_die(int signal);
