/* SPDX-License-Identifier: MIT */
/*
 * run.h - a recorder while it runs, as record and top have it: its signals, the command, running processes and the
 * kernel, and how all that ends.
 */
#pragma once

#include <limits.h>
#include <signal.h>

#include <plan/planner.h>
#include <record/record.h>

#include <cli/target.h>

struct hodo_attach_copy;
struct signalfd_siginfo;

/* All zero, except the descriptors, which are -1, and the first members, which the caller sets. */
struct hodo_run {
	char **command; /* NULL: none */
	struct hodo_attach_options *attach;
	struct hodo_pattern_list *kernel_patterns;
	struct hodo_reporter reporter;
	void (*take)(void *arg, const struct signalfd_siginfo *info); /* a signal, but SIGCHLD; reporter's arg */
	struct hodo_planner planner; /* of functions without slots */

	struct hodo_recorder *recorder;   /* NULL: nothing is recorded (any more) */
	struct hodo_recorder_stats stats; /* at its end */
	struct hodo_launch launch;
	int signal_fd;
	int kernel_fd;    /* -1: the kernel is not recorded, or the recorder has it */
	int64_t start_ns; /* when it began */
	pid_t pid;        /* the command's; 0: not started */
	bool ended;       /* the command, or there is none */
	int status;       /* the command's, from wait() */
	int signal;       /* that ended the recording; 0: none did */
	char library[2 * PATH_MAX]; /* for the command's LD_PRELOAD */
	struct hodo_attach_copy *copy; /* of these, in other root directories */
	uint32_t copies;
};

/* Those that return a status: 0, or the exit status after a message. In this order: */
int hodo_run_open_kernel(struct hodo_run *r);
/* The command, and the libraries that it is to load; functions: with the one for functions. */
int hodo_run_find(struct hodo_run *r, bool functions);
/* Signals are taken by hodo_run_wait() from now on; terminal: those of its window and of job control, too. */
int hodo_run_catch(struct hodo_run *r, bool terminal);
/* Opens the recorder: adds to the configuration what all have; r is its argument. 0, or a negative errno and why. */
int hodo_run_open(struct hodo_run *r, struct hodo_recorder_config *config, struct hodo_why *why);
/* Begins with the kernel, then running processes. anyway: it may be that none of these can be recorded. */
int hodo_run_begin(struct hodo_run *r, bool anyway);
/* Starts the command, which also runs if there is no recorder. 0 or a negative errno. */
int hodo_run_command(struct hodo_run *r, const struct hodo_launch_before *before);

/* Notices the command's end. */
void hodo_run_reap(struct hodo_run *r);
/*
 * Waits that long at most, without end if negative, until the recorder has something to do, a signal has come or the
 * descriptor (-1: none) is ready: returns its poll events.
 */
short hodo_run_wait(struct hodo_run *r, int64_t ns, int fd);

/* Closes the recorder, if it is open. */
void hodo_run_end(struct hodo_run *r);
/* The command's exit status, or that of the signal that ended the recording; a signal ends this process, too. */
int hodo_run_status(const struct hodo_run *r);
void hodo_run_free(struct hodo_run *r);
