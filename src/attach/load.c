/* SPDX-License-Identifier: MIT */
/*
 * load.c - brings libhodo into a running process: inspects it from outside, then briefly stops one thread
 * after the other until one is at a place where it can be made to call.
 *
 * A child of the caller does all of this (without_terminal.c). If the tracer is killed anyway, the thread finds its way
 * back by itself (call.c).
 */
#ifdef __x86_64__

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>

#include "attach_impl.h"

/*
 * How long to search for a safe place; on a busy machine, where threads rarely stop, until that many were
 * inspected.
 */
#define TRY_MS     5000
#define TRY_STOPS  500
#define TRY_MS_MAX 30000
#define START_MS  5000 /* for the thread that listens */
#define EXEC_MS   3000 /* wrappers call exec a few times before they become the program */
#define YOUNG_MS  2000 /* within which a program has its libraries, even on a busy machine */

struct thread {
	pid_t tid;
	int rank; /* smaller is better */
};

struct search {
	struct hodo_attach_target *t;
	struct hodo_attach_places places;
	struct hodo_attach_unwind *unwind;
	struct hodo_attach_tracee tracee;
	struct hodo_attach_stack stack;
	struct hodo_attach_done *done;
	struct thread threads[HODO_ATTACH_THREADS_MAX];
	uint32_t nthreads;
	uint64_t seed;
	int seccomp; /* mode of a thread that was skipped because of it */
	int64_t since_ms;
	char reason[128];
};

static int64_t now_ms(void)
{
	return hodo_now_ns() / 1000000;
}

/* Random, so as not to be in step with the program. */
static void pause_random(struct search *s, uint32_t us_max)
{
	s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
	hodo_sleep_ns((int64_t)((s->seed >> 33) % us_max + 50) * 1000);
}

/* -------------------------------------------------------------------- threads */

/* How suitable the thread's present call is: first come those that a stop does not affect at all. */
static int rank_of_call(const char *text)
{
	if (strncmp(text, "running", 7) == 0)
		return 4;
	switch (strtol(text, NULL, 10)) {
	case SYS_futex: case SYS_ppoll: case SYS_poll: case SYS_select: case SYS_pselect6: case SYS_wait4:
	case SYS_waitid: case SYS_pause: case SYS_rt_sigsuspend: case SYS_nanosleep: case SYS_clock_nanosleep:
	case SYS_accept: case SYS_accept4: case SYS_read:
		return 1;
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_recvfrom: case SYS_recvmsg: case SYS_rt_sigtimedwait:
		return 2;
	case SYS_write: case SYS_writev: case SYS_sendto: case SYS_sendmsg: case SYS_connect:
		return 5;
	}
	return 3;
}

/* False: do not stop this thread. */
static bool rank_thread(struct search *s, struct thread *thread)
{
	struct hodo_proc_stat stat;
	char text[8192], name[64];
	const char *value;

	snprintf(name, sizeof(name), "task/%d/stat", (int)thread->tid);
	if (!hodo_proc_stat(s->t->pid, name, &stat) || (stat.state != 'S' && stat.state != 'R') ||
	    (stat.flags & 0x10 /* PF_IO_WORKER */))
		return false;
	snprintf(name, sizeof(name), "task/%d/status", (int)thread->tid);
	if (hodo_proc_file(s->t->pid, name, text, sizeof(text)) < 0)
		return false;
	value = hodo_proc_field(text, "Seccomp");
	if (value && atoi(value) != 0) {
		s->seccomp = atoi(value);
		return false;
	}
	snprintf(name, sizeof(name), "task/%d/syscall", (int)thread->tid);
	if (hodo_proc_file(s->t->pid, name, text, sizeof(text)) < 0)
		thread->rank = stat.state == 'S' ? 3 : 4;
	else
		thread->rank = rank_of_call(text);
	return true;
}

static int by_rank(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return hodo_order(x->rank, y->rank) ?: hodo_order(x->tid, y->tid);
}

static void list_threads(struct search *s)
{
	HODO_AUTO_CLOSEDIR DIR *dir = NULL;
	char path[64];
	const char *name;

	s->nthreads = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->t->pid);
	dir = hodo_dir_list(AT_FDCWD, path);
	while (s->nthreads < HODO_ATTACH_THREADS_MAX && (name = hodo_dir_next(dir))) {
		struct thread *thread = &s->threads[s->nthreads];

		thread->tid = atoi(name);
		if (thread->tid > 0 && rank_thread(s, thread))
			s->nthreads++;
	}
	hodo_order_sort(s->threads, s->nthreads, by_rank);
}

/* ----------------------------------------------------------------------- one try */

/* 0: done; -EAGAIN: not a good time; another negative errno. */
static int try_thread(struct search *s, pid_t tid, int64_t answer[3])
{
	struct hodo_attach_tracee *e = &s->tracee;
	const char *reason = NULL;
	int error;

	e->target = s->t;
	e->tid = tid;
	e->done = s->done;
	error = hodo_attach_tracee_stop(e);
	if (error)
		return error;
	if (e->genuine)
		reason = "about to take a signal";
	else if (hodo_attach_tracee_in_rseq(e))
		reason = "in restartable sequences";
	else if (hodo_attach_loader_locked(s->t, &s->places))
		reason = "inside the dynamic loader";
	else if (!hodo_attach_unwind_safe(s->unwind, e, &s->stack))
		reason = s->stack.reason;
	if (reason)
		snprintf(s->reason, sizeof(s->reason), "%s", reason);
	error = reason ? -EAGAIN : hodo_attach_call(e, &s->places, &s->stack, answer);
	/* -ESRCH, -ETIMEDOUT: it is not stopped. Our exit releases it. */
	if (error != -ESRCH && error != -ETIMEDOUT)
		hodo_attach_tracee_release(e);
	return error;
}

static int refuse_moment(struct search *s)
{
	struct hodo_attach_target *t = s->t;

	if (s->seccomp && !s->nthreads)
		return hodo_why(t->why, -EPERM, "process %d is in a seccomp sandbox (mode %d), which might end it: "
				"start it with HODO_LISTEN=1", t->pid, s->seccomp);
	if (!s->reason[0])
		return hodo_why(t->why, -EBUSY, "process %d has no thread that can be stopped: try again", t->pid);
	return hodo_why(t->why, -EBUSY, "process %d: in %d s its threads were always %s: try again, or start it with "
			"HODO_LISTEN=1", t->pid, (int)((now_ms() - s->since_ms) / 1000), s->reason);
}

static int refuse_call(struct search *s, int error)
{
	struct hodo_attach_target *t = s->t;

	switch (error) {
	case -ESRCH:
		return error;
	case -EPERM:
		return hodo_why(t->why, error, "process %d cannot be stopped (a debugger has it, or the system "
				"forbids it): start it with HODO_LISTEN=1", t->pid);
	case -EFAULT:
		return hodo_why(t->why, error, "process %d: loading libhodo failed in it (a fault)", t->pid);
	case -ETIMEDOUT:
		return hodo_why(t->why, error, "process %d: thread %d is waiting for another thread and will listen "
				"later: try again", t->pid, s->tracee.tid);
	case -ENOEXEC:
		return error; /* already reported */
	}
	return hodo_why(t->why, error, "process %d could not be made to listen: %s", t->pid, strerror(-error));
}

static bool goes_on(const struct search *s)
{
	int64_t ms = now_ms() - s->since_ms;

	return ms < TRY_MS || (s->done->stops < TRY_STOPS && ms < TRY_MS_MAX);
}

static int search(struct search *s, int64_t answer[3])
{
	int error;

	s->since_ms = now_ms();
	hodo_attach_hurry();
	do {
		s->seccomp = 0;
		list_threads(s);
		if (!s->nthreads && s->seccomp)
			break;
		for (uint32_t i = 0; i < s->nthreads && goes_on(s); i++) {
			/* All waiting threads, and a few running ones. */
			error = try_thread(s, s->threads[i].tid, answer);
			if (!error)
				return 0;
			if (error == -ESRCH && hodo_attach_target_same(s->t) && !s->tracee.seized)
				continue; /* only the thread has ended */
			if (error != -EAGAIN)
				return refuse_call(s, error);
			if (!hodo_attach_target_same(s->t))
				return -ESRCH; /* what we know belongs to an earlier program */
			pause_random(s, 2000);
		}
		pause_random(s, 8000);
	} while (goes_on(s));
	return refuse_moment(s);
}

/* ------------------------------------------------------------------- all together */

/* answer: from hodo_attach_(): negative errno; addresses of its thread's state (1: starting) and error. */
static int wait_listening(struct hodo_attach_target *t, const int64_t answer[3])
{
	int64_t until = now_ms() + START_MS;
	uint32_t state = 1;
	int32_t error = (int32_t)answer[0];

	while (!error && state == 1 && now_ms() < until) {
		if (!hodo_attach_read(t, (uint64_t)answer[1], &state, sizeof(state)) ||
		    !hodo_attach_read(t, (uint64_t)answer[2], &error, sizeof(error)))
			return hodo_why(t->why, -ESRCH, "process %d has ended", t->pid);
		if (state == 1)
			hodo_sleep_ns(200000);
	}
	if (error || state == 1)
		return hodo_why(t->why, error ? error : -ETIMEDOUT, "process %d could not listen: %s", t->pid,
				strerror(error ? -error : ETIMEDOUT));
	return 0;
}

static int attach_once(struct hodo_attach_target *t, const char *library, const char *copy,
		       struct hodo_attach_done *done)
{
	/* calloc() aligns to 16 bytes; the tracee's vector registers are aligned to 64. */
	HODO_AUTO_FREE struct search *s = aligned_alloc(_Alignof(struct search), sizeof(*s));
	int64_t answer[3] = { -EIO, 0, 0 };
	int error;

	if (!s)
		return hodo_why(t->why, -ENOMEM, "out of memory");
	memset(s, 0, sizeof(*s));
	s->t = t;
	s->done = done;
	s->seed = (uint64_t)getpid() * 0x9e3779b97f4a7c15ull + (uint64_t)now_ms();
	error = hodo_attach_target_open(t);
	if (!error)
		error = hodo_attach_objects_open(t);
	if (!error)
		error = hodo_attach_places_find(t, &s->places, library, copy);
	if (!error) {
		s->unwind = hodo_attach_unwind_open(t);
		error = s->unwind ? search(s, answer)
				  : hodo_why(t->why, -ENOMEM, "the stacks of process %d cannot be read", t->pid);
	}
	if (!error)
		error = wait_listening(t, answer);
	/* We may have seen half of one program and half of another. */
	if (error && t->auxv_len > 0 && !hodo_attach_target_same(t))
		error = -ESRCH;
	hodo_attach_unwind_close(s->unwind);
	hodo_attach_objects_close(t);
	hodo_attach_target_close(t);
	return error;
}

struct attaching {
	pid_t pid;
	int pidfd;
	const char *library, *copy;
};

static void attach(void *arg, struct hodo_attach_answer *a)
{
	const struct attaching *x = arg;
	struct pollfd end = { .fd = x->pidfd, .events = POLLIN };
	int64_t until = now_ms() + EXEC_MS, young = now_ms() + YOUNG_MS;
	struct timespec pause = { 0, 2000000 };

	do {
		struct hodo_attach_target t = { .pid = x->pid, .pidfd = x->pidfd, .why = &a->why };

		a->why.text[0] = 0;
		a->error = attach_once(&t, x->library, x->copy, &a->done);
		if (a->error == -ESRCH)
			young = now_ms() + YOUNG_MS;
		/* A program that has just started has no libraries yet. */
		if (a->error != -ESRCH && (a->error != -EAGAIN || now_ms() >= young))
			break;
		/* A tick may end the wait early; that does not mean that the process has ended. */
	} while (ppoll(&end, 1, &pause, NULL) <= 0 && now_ms() < until);
	if (a->error == -EAGAIN)
		a->error = -EOPNOTSUPP;
	if (a->error == -ESRCH)
		hodo_why(&a->why, 0, hodo_attach_alive(x->pidfd) ?
			 "process %d keeps becoming another program" : "process %d has ended", (int)x->pid);
}

int hodo_attach_process(pid_t pid, int pidfd, const char *library, const struct hodo_attach_copy *copy,
			struct hodo_attach_done *done, struct hodo_why *why)
{
	char path[4096], copied[sizeof(copy->dir) + 256];
	struct attaching x = { pid, pidfd, path, copy ? copied : NULL };
	bool resolved = realpath(library, path);

	if (copy)
		snprintf(copied, sizeof(copied), "%s/%s", copy->dir, copy->file[0]);
	return resolved ? hodo_attach_apart(pid, attach, &x, done, why)
			: hodo_why(why, -errno, "%s: %s", library, strerror(errno));
}

#else /* another architecture */

#include <errno.h>
#include <stdio.h>
#include "attach.h"

int hodo_attach_process(pid_t pid, int pidfd, const char *library, const struct hodo_attach_copy *copy,
			struct hodo_attach_done *done, struct hodo_why *why)
{
	return hodo_why(why, -EOPNOTSUPP, "process %d: only processes that listen can be recorded on this "
			"architecture: start it with HODO_LISTEN=1", (int)pid);
}

int hodo_attach_still(pid_t pid, int pidfd, const struct hodo_attach_still *still, struct hodo_attach_done *done,
		      struct hodo_why *why)
{
	return hodo_why(why, -EOPNOTSUPP, "process %d: code can be replaced only on x86-64", (int)pid);
}

#endif
