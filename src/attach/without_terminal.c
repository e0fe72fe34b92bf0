/* SPDX-License-Identifier: MIT */
/*
 * without_terminal.c - a child of the caller, in its own session and with signals blocked, so that neither Ctrl-C nor
 * the end of the caller interrupts it. If it is killed anyway, the kernel resumes the threads that it had
 * stopped.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach_impl.h"

#define TICK_US      5000 /* bounds every wait */
#define REST_TICK_US 500  /* before any thread is stopped */

static volatile sig_atomic_t rests;

/*
 * We may occupy the CPU of one of the process's threads, which would have to wait for the scheduler's next
 * tick.
 */
static void on_tick(int signal)
{
	const struct timespec moment = { 0, 1 };

	(void)signal;
	if (rests)
		nanosleep(&moment, NULL);
}

static void tick(int us, int flags)
{
	const struct itimerval timer = { { 0, us }, { 0, us } };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = flags };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/*
 * On a busy machine, a thread is stopped mostly while we wait to be scheduled. With root's privilege, that
 * happens at once; the process itself is scheduled as usual.
 */
void hodo_attach_hurry(void)
{
	struct sched_param priority = { .sched_priority = 1 };

	rests = false;
	tick(TICK_US, 0);
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority) != 0)
		setpriority(PRIO_PROCESS, 0, -10);
}

static void settle(void)
{
	sigset_t mask;

	setsid();
	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	signal(SIGCHLD, SIG_DFL);
	rests = true;
	tick(REST_TICK_US, SA_RESTART);
}

int hodo_attach_apart(pid_t pid, void (*run)(void *arg, struct hodo_attach_answer *a), void *arg,
		      struct hodo_attach_done *done, struct hodo_why *why)
{
	struct hodo_attach_answer *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
					    0);
	int error = -EIO;
	pid_t child;

	if (a == MAP_FAILED)
		return hodo_why(why, -ENOMEM, "out of memory");
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
		hodo_why(&a->why, 0, "the process that was to stop %d was ended", (int)pid);
	*why = a->why;
	if (done)
		*done = a->done;
	munmap(a, sizeof(*a));
	return error;
}
