/* SPDX-License-Identifier: MIT */
/*
 * apart.c - a child of the caller, in a session of its own and with signals blocked: Ctrl-C, or the end of the caller,
 * does not come between. If it is killed all the same, the kernel lets the threads go on that it had stopped.
 */
#ifdef __x86_64__

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

#define TICK_US 5000 /* no wait is for ever */

static void on_tick(int signal)
{
	(void)signal;
}

static void settle(void)
{
	struct itimerval tick = { { 0, TICK_US }, { 0, TICK_US } };
	struct sigaction action = { .sa_handler = on_tick };
	sigset_t mask;

	setsid();
	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGALRM, &action, NULL);
	signal(SIGCHLD, SIG_DFL);
	setitimer(ITIMER_REAL, &tick, NULL);
}

int hodo_attach_apart(pid_t pid, void (*run)(void *arg, struct hodo_attach_answer *a), void *arg,
		      struct hodo_attach_done *done, char *why, size_t why_size)
{
	struct hodo_attach_answer *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
					    0);
	int error = -EIO;
	pid_t child;

	if (a == MAP_FAILED) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	child = fork();
	if (child == 0) {
		settle();
		run(arg, a);
		a->complete = true;
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (a->complete)
		error = a->error;
	else
		snprintf(a->why, sizeof(a->why), "the process that was to stop %d was ended", (int)pid);
	snprintf(why, why_size, "%s", a->why);
	if (done)
		*done = a->done;
	munmap(a, sizeof(*a));
	return error;
}

#endif
