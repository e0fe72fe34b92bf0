/* SPDX-License-Identifier: MIT */
/* run.c - a recorder while it runs: its signals, the command, running processes and the kernel. */
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HODO_HAVE_ATTACH
#include <attach/attach.h>
#endif
#include <base/clock.h>
#include <base/vec.h>
#include <base/scope.h>

#include <cli/say.h>

/* ------------------------------------------------------- copies of the libraries */

/*
 * In the root directories of programs that a recorded one starts there: one for each root directory and each user. What
 * one user can write, another one's programs are not to load.
 */
#ifdef HODO_HAVE_ATTACH
#define COPIES_MAX 256u

static const struct hodo_attach_copy *find_copy(const struct hodo_run *r, pid_t pid)
{
	for (uint32_t i = 0; i < r->copies; i++)
		if (hodo_attach_copy_serves(&r->copy[i], pid))
			return &r->copy[i];
	return NULL;
}

/* What LD_PRELOAD has outside. The copy has libhodo-func even if that does not, since it may be wanted later. */
static int put_paths(const struct hodo_run *r, const struct hodo_attach_copy *copy, char *paths, size_t size)
{
	HODO_AUTO(hodo_text_free) struct hodo_text text = { 0 };
	unsigned n = strchr(r->library, ':') ? copy->n : 1;

	for (unsigned i = 0; i < n; i++)
		hodo_text_printf(&text, "%s%s/%s", i ? ":" : "", copy->dir, copy->file[i]);
	if (text.error || text.len >= size)
		return -ENAMETOOLONG;
	memcpy(paths, hodo_text_string(&text), text.len + 1);
	return 0;
}

static int make_copy(struct hodo_run *r, pid_t pid)
{
	struct hodo_why why;
	char library[2 * PATH_MAX];
	struct hodo_attach_copy copy;
	int err;

	snprintf(library, sizeof(library), "%s", r->library);
	if (!strchr(library, ':'))
		hodo_launch_add_functions(library, sizeof(library), &why);
	err = r->copies < COPIES_MAX ? hodo_attach_copy_make(&copy, pid, library, true, &why)
				     : hodo_why(&why, -ENOSPC, "there are too many root directories");
	if (err) {
		hodo_report(&r->reporter, "process %d starts a program in another root directory, to which libhodo cannot be copied: %s",
			   (int)pid, why.text);
		return err;
	}
	*hodo_must(hodo_vec_add(r->copy, r->copies)) = copy;
	return 0;
}

static int copy_libraries(void *arg, pid_t pid, char *paths, size_t size)
{
	struct hodo_run *r = arg;
	const struct hodo_attach_copy *copy = find_copy(r, pid);
	int err = copy ? 0 : make_copy(r, pid);

	return err ? err : put_paths(r, copy ? copy : &r->copy[r->copies - 1], paths, size);
}

/* But where programs go on that may load them once more, it says so. */
static void remove_copies(struct hodo_run *r)
{
	for (uint32_t i = 0; i < r->copies; i++) {
		pid_t user = hodo_attach_copy_user(&r->copy[i]);

		/* It has the path in its environment: without the file, its loader would complain about it. */
		if (user)
			hodo_report(&r->reporter, "process %d goes on in another root directory: a copy of libhodo stays there, in %s: remove it"
				   " when it has ended", (int)user, r->copy[i].dir);
		else
			hodo_attach_copy_remove(&r->copy[i]);
	}
	free(r->copy);
	r->copy = NULL;
	r->copies = 0;
}
#else
#define copy_libraries NULL
#define remove_copies(r)
#endif

/* ------------------------------------------------------------------------- begin */

int hodo_run_open_kernel(struct hodo_run *r)
{
	struct hodo_why why;

	r->kernel_fd = hodo_kernel_open_record(&why);
	return r->kernel_fd < 0 ? hodo_error("%s", why.text) : 0;
}

int hodo_run_find(struct hodo_run *r, bool functions)
{
	struct hodo_why why;
	int err = hodo_launch_find(r->command[0], NULL);

	if (err)
		return hodo_cannot_run(r->command[0], err);
	if (hodo_launch_library(r->library, sizeof(r->library), &why) < 0 ||
	    (functions && hodo_launch_add_functions(r->library, sizeof(r->library), &why) < 0))
		return hodo_error("%s", why.text);
	return 0;
}

int hodo_run_catch(struct hodo_run *r, bool terminal)
{
	sigset_t set;

	hodo_launch_signals(&set);
	if (terminal) {
		sigaddset(&set, SIGWINCH);
		sigaddset(&set, SIGTSTP);
	}
	hodo_launch_prepare(&r->launch, &set);
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd >= 0 ? 0 :
	       hodo_error("cannot wait for signals: %s: %s", strerror(errno), hodo_remedy(errno));
}

int hodo_run_open(struct hodo_run *r, struct hodo_recorder_config *config, struct hodo_why *why)
{
	config->reporter = r->reporter;
	config->ops.copy = r->command ? copy_libraries : NULL;
	config->arg = r;
	return hodo_recorder_open(&r->recorder, config, why);
}

int hodo_run_begin(struct hodo_run *r, bool anyway)
{
	bool kernel = r->kernel_fd >= 0;
	struct hodo_why why;
	int err = 0;

	if (r->recorder && kernel) {
		err = hodo_recorder_add_kernel(r->recorder, r->kernel_fd, r->kernel_patterns, &why);
		r->kernel_fd = -1;
	}
	if (err)
		return hodo_error("%s", why.text);
	/* It counts the kernel, too. */
	if (r->recorder && r->attach->n && hodo_attach_record(r->attach, r->recorder) <= kernel && !anyway)
		return HODO_EXIT_FAILURE;
	r->start_ns = hodo_now_ns();
	r->ended = !r->command;
	return 0;
}

int hodo_run_command(struct hodo_run *r, const struct hodo_launch_before *before)
{
	int err = hodo_launch_start(&r->launch, r->command, r->recorder ? r->library : NULL,
				    r->recorder ? hodo_recorder_socket(r->recorder) : NULL, before, &r->pid);

	if (err) {
		r->pid = 0;
		return err;
	}
	r->planner.command = r->pid;
	if (r->recorder)
		hodo_recorder_set_command(r->recorder, r->pid);
	return 0;
}

/* ------------------------------------------------------------------------ meanwhile */

void hodo_run_reap(struct hodo_run *r)
{
	if (r->ended || r->pid <= 0)
		return;
	r->ended = waitpid(r->pid, &r->status, WNOHANG) == r->pid;
	if (r->ended && r->recorder)
		hodo_recorder_command_ended(r->recorder, r->status);
}

short hodo_run_wait(struct hodo_run *r, int64_t ns, int fd)
{
	struct pollfd fds[3] = {
		{ .fd = r->signal_fd, .events = POLLIN },
		{ .fd = r->recorder ? hodo_recorder_fd(r->recorder) : -1, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	struct timespec timeout = { ns / 1000000000, ns % 1000000000 };
	struct signalfd_siginfo info;

	ppoll(fds, 3, ns < 0 ? NULL : &timeout, NULL);
	while (fds[0].revents && read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			r->take(r->reporter.arg, &info);
		hodo_run_reap(r);
	}
	return fds[2].revents;
}

/* ------------------------------------------------------------------------------ end */

void hodo_run_end(struct hodo_run *r)
{
	if (r->recorder)
		hodo_recorder_close(r->recorder, &r->stats);
	r->recorder = NULL;
	remove_copies(r);
}

int hodo_run_status(const struct hodo_run *r)
{
	bool ended = r->command && r->ended;

	if (ended && WIFEXITED(r->status))
		return WEXITSTATUS(r->status);
	/* Else stopped by a signal while the command goes on. */
	return hodo_launch_die(ended ? WTERMSIG(r->status) : r->signal);
}

void hodo_run_free(struct hodo_run *r)
{
	hodo_run_end(r);
	if (r->signal_fd >= 0)
		close(r->signal_fd);
	if (r->kernel_fd >= 0)
		close(r->kernel_fd);
	hodo_planner_free(&r->planner);
}
