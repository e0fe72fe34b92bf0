/* SPDX-License-Identifier: MIT */
/*
 * stop_threads.c - writes code of a process while none of its threads runs: code that cannot be written under
 * running threads, since they could meet a trap whose signal they block.
 *
 * Threads may start while others are stopped: we search until there are no new ones. A thread at a replaced
 * instruction continues in its copy; one that must enter its system call again does so from the instruction.
 * If this process is killed, the threads continue at once: then only some of the windows are written, but
 * each is complete, or begins with a trap.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <base/vec.h>

#include "attach_impl.h"

#define PAGE   4096u
#define ROUNDS 1000u /* of searching for new threads */

struct still {
	const struct hodo_attach_still *wanted;
	struct hodo_attach_target *t;
	struct hodo_attach_tracee **threads; /* stopped */
	uint32_t nthreads;
	struct hodo_attach_done *done;
};

static bool is_known(const struct still *s, pid_t tid)
{
	for (uint32_t i = 0; i < s->nthreads; i++)
		if (s->threads[i]->tid == tid)
			return true;
	return false;
}

/* Whether it runs no more code. */
static bool has_ended(const struct still *s, pid_t tid)
{
	struct hodo_proc_stat stat;
	char name[64];

	snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	return !hodo_proc_stat(s->t->pid, name, &stat) || stat.state == 'Z' || stat.state == 'X';
}

static int stop(struct still *s, pid_t tid)
{
	struct hodo_attach_tracee *e = aligned_alloc(_Alignof(struct hodo_attach_tracee), sizeof(*e));
	int err = -ENOMEM;

	if (!e)
		return -ENOMEM;
	*e = (struct hodo_attach_tracee){ .target = s->t, .tid = tid, .done = s->done };
	err = hodo_attach_tracee_stop(e);
	if (!err)
		err = hodo_vec_push(s->threads, s->nthreads, e);
	if (!err)
		return 0;
	if (e->seized)
		hodo_attach_tracee_release(e);
	free(e);
	return err == -ESRCH || has_ended(s, tid) ? 0 : err;
}

/* Returns how many were new, or negative errno. */
static int stop_new(struct still *s)
{
	HODO_AUTO_CLOSEDIR DIR *dir = NULL;
	char path[64];
	const char *name;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->t->pid);
	dir = hodo_dir_list(AT_FDCWD, path);
	while (dir && (name = hodo_dir_next(dir))) {
		pid_t tid = atoi(name);
		int err = tid > 0 && !is_known(s, tid) && !has_ended(s, tid) ? stop(s, tid) : 1;

		if (err < 0)
			return err;
		n += err == 0;
		if (s->nthreads > HODO_ATTACH_THREADS_MAX)
			return -E2BIG;
	}
	return dir ? n : -ESRCH;
}

static int stop_all(struct still *s)
{
	int n = 1;

	for (unsigned i = 0; i < ROUNDS && n > 0; i++)
		n = stop_new(s);
	return n > 0 ? -EAGAIN : n < 0 ? n : s->nthreads ? 0 : -ESRCH;
}

static void release_all(struct still *s)
{
	for (uint32_t i = 0; i < s->nthreads; i++) {
		hodo_attach_tracee_release(s->threads[i]);
		free(s->threads[i]);
	}
	free(s->threads);
	s->threads = NULL;
	s->nthreads = 0;
}

/* Where the thread continues; false: where it is. */
static bool find_move(const struct hodo_attach_still *w, uint64_t at, uint64_t *to)
{
	for (uint32_t i = 0; i < w->nmoves; i++) {
		*to = w->moves[i].to;
		if (w->moves[i].from == at)
			return true;
	}
	return false;
}

static int unblock(const struct still *s, const struct hodo_attach_tracee *e)
{
	return hodo_attach_tracee_set_mask(e, e->mask & ~s->wanted->unblocked) ? 0 : -ESRCH;
}

static void move(const struct still *s, struct hodo_attach_tracee *e)
{
	uint64_t to;

	if (!find_move(s->wanted, e->regs.rip, &to) || hodo_attach_tracee_again(e))
		return;
	e->regs.rip = to;
	hodo_attach_tracee_set_regs(e, &e->regs);
}

static bool put(int mem, uint64_t addr, const uint8_t *bytes, size_t len)
{
	return pwrite(mem, bytes, len, (off_t)addr) == (ssize_t)len;
}

/* If a write spans two pages and we are killed, only one may be written: so a trap precedes it meanwhile. */
static bool put_whole(int mem, const struct hodo_attach_write *w)
{
	static const uint8_t trap = 0xcc;

	if (w->addr % PAGE + w->len <= PAGE)
		return put(mem, w->addr, w->bytes, w->len);
	return put(mem, w->addr, &trap, 1) && put(mem, w->addr + 1, w->bytes + 1, w->len - 1u) &&
	       put(mem, w->addr, w->bytes, 1);
}

/* Swaps the present bytes with the wanted ones; calling it again undoes that. */
static int exchange(int mem, struct hodo_attach_write *w)
{
	uint8_t was[sizeof(w->bytes)];

	if (pread(mem, was, w->len, (off_t)w->addr) != w->len || !put_whole(mem, w))
		return errno ? -errno : -EIO;
	memcpy(w->bytes, was, w->len);
	return 0;
}

static int write_all(const struct still *s, int mem)
{
	HODO_AUTO_FREE struct hodo_attach_write *list = calloc(s->wanted->nwrites + 1, sizeof(*list));
	uint32_t n = 0;
	int err = 0;

	if (!list)
		return -ENOMEM;
	memcpy(list, s->wanted->writes, s->wanted->nwrites * sizeof(*list));
	while (n < s->wanted->nwrites && !err)
		err = exchange(mem, &list[n++]);
	for (uint32_t i = 0; err && i + 1 < n; i++)
		exchange(mem, &list[i]);
	return err;
}

static int run_still(struct still *s)
{
	HODO_AUTO_CLOSE int mem = -1;
	char path[32];
	int err;

	hodo_attach_hurry();
	err = stop_all(s);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)s->t->pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (!err && mem < 0)
		err = -errno;
	/* Threads first: unblocking a signal changes nothing until there is a trap. */
	for (uint32_t i = 0; i < s->nthreads && !err; i++)
		err = unblock(s, s->threads[i]);
	for (uint32_t i = 0; i < s->nthreads && !err; i++)
		err = hodo_attach_clean_frames(mem, s->threads[i], s->wanted->unblocked);
	if (!err)
		err = write_all(s, mem);
	for (uint32_t i = 0; i < s->nthreads && !err; i++)
		move(s, s->threads[i]);
	release_all(s);
	return err;
}

struct request {
	pid_t pid;
	int pidfd;
	const struct hodo_attach_still *still;
};

static void still(void *arg, struct hodo_attach_answer *a)
{
	const struct request *r = arg;
	struct hodo_attach_target t = { .pid = r->pid, .pidfd = r->pidfd, .why = &a->why };
	struct still s = { .wanted = r->still, .t = &t, .done = &a->done };

	a->error = hodo_attach_target_open(&t);
	if (!a->error) {
		a->error = run_still(&s);
		if (a->error)
			hodo_why(t.why, a->error, "the threads of process %d cannot be stopped all at once: %s",
				 t.pid, strerror(-a->error));
	}
	hodo_attach_target_close(&t);
}

int hodo_attach_still(pid_t pid, int pidfd, const struct hodo_attach_still *wanted, struct hodo_attach_done *done,
		      struct hodo_why *why)
{
	struct request r = { pid, pidfd, wanted };

	return hodo_attach_apart(pid, still, &r, done, why);
}
