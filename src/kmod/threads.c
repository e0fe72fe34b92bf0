/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * threads.c - names of threads, for readers of the trace: of all threads when a recording begins, then of each new
 * thread and each new name. None of this is on the path of an event.
 *
 * A thread has one place in the table, in which its next name replaces the last: otherwise, a thread that often
 * changes its name would leave no room for others. The place is one of a bucket's, which the tid says. Tids are given
 * out in turn, so a new thread that finds no free place is given that of one that has ended, the one that came first
 * if it can be.
 *
 *            | another writer      | reader
 *   writer   | excluded: the lock  | beside
 *
 * Readers have the table mapped. tid is 0 while the rest is changed, and stored last, with release: without it a
 * reader could see the number and not yet the name.
 */
#include "kmod.h"
#include "state.h"
#include "tracepoint_find.h"

#include <core/atomic.h>

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#define PLACES 8u /* of a bucket */
#define BUCKETS (HODO_THREADS_MAX / PLACES)

static DEFINE_RAW_SPINLOCK(lock);

static notrace bool lives(uint32_t tid)
{
	bool yes;

	rcu_read_lock();
	yes = pid_task(find_pid_ns((pid_t)tid, &init_pid_ns), PIDTYPE_PID) != NULL;
	rcu_read_unlock();
	return yes;
}

/* The thread's, a free one, or that of one that has ended. NULL: all of the bucket's have names that may be needed. */
static notrace struct hodo_thread *place_of(struct hodo_thread *threads, uint32_t tid)
{
	struct hodo_thread *bucket = &threads[tid % BUCKETS * PLACES], *place = NULL;
	uint32_t first = tid / BUCKETS; /* that of eight tids before in this bucket */

	for (uint32_t i = 0; i < PLACES; i++) {
		struct hodo_thread *t = &bucket[(first + i) % PLACES];

		if (t->tid == tid)
			return t;
		if (!place && t->tid == 0)
			place = t;
	}
	for (uint32_t i = 0; i < PLACES && !place; i++)
		if (!lives(bucket[(first + i) % PLACES].tid))
			place = &bucket[(first + i) % PLACES];
	return place;
}

static notrace void add_thread(const struct task_struct *task, const char *comm)
{
	struct hodo_memory *m = hodo_recording.memory;
	uint32_t tid = (uint32_t)task->pid;
	struct hodo_thread *t;
	unsigned long flags;

	if (tid == 0) /* each CPU's own */
		return;
	raw_spin_lock_irqsave(&lock, flags);
	t = place_of(m->threads, tid);
	if (t) {
		WRITE_ONCE(t->tid, 0);
		smp_wmb(); /* before the rest changes: see hodo_shm_thread() */
		t->reserved = task->tgid;
		strscpy_pad(t->comm, comm, sizeof(t->comm));
		hodo_store_release(&t->tid, tid);
		/* Readers that see this also see what was stored before. */
		hodo_store_release(&m->shm->threads, m->shm->threads + 1);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static notrace void on_newtask(void *data, struct task_struct *task, unsigned long flags)
{
	add_thread(task, task->comm);
}

static notrace void on_rename(void *data, struct task_struct *task, const char *comm)
{
	add_thread(task, comm);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tp; /* with which it is registered */
} points[] = { { "task_newtask", on_newtask }, { "task_rename", on_rename } };

static void add_all(void)
{
	struct task_struct *process, *thread;

	rcu_read_lock();
	for_each_process_thread(process, thread)
		add_thread(thread, thread->comm);
	rcu_read_unlock();
}

int hodo_threads_start(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		struct tracepoint *tp = hodo_tracepoint_find(points[i].name);
		int err = tp ? tracepoint_probe_register(tp, points[i].probe, NULL) : 0;

		if (err)
			return err;
		points[i].tp = tp;
	}
	/* After the probes: a thread that comes in between is added twice, rather than never. */
	add_all();
	return 0;
}

void hodo_threads_stop(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		if (points[i].tp)
			tracepoint_probe_unregister(points[i].tp, points[i].probe, NULL);
		points[i].tp = NULL;
	}
}
