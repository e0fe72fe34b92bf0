/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * threads.c - names of threads, for those who read the trace: all that there are when a recording begins, then each
 * new one and each new name. Nothing of it is on the way of an event.
 *
 * A place in the table is taken by one atomic increment, filled, and made valid by storing tid with release: without
 * it a reader could see the number and not yet the name.
 */
#include "kmod.h"
#include "recording.h"
#include "tracepoint_find.h"

#include <core/atomic.h>

#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

static notrace void add_thread(const struct task_struct *task, const char *comm)
{
	struct hodo_memory *m = hodo_recording.memory;
	uint32_t i = hodo_add(&m->shm->threads, 1);
	struct hodo_thread *t = &m->threads[i];

	if (i >= HODO_THREADS_MAX) {
		hodo_store(&m->shm->threads, HODO_THREADS_MAX); /* so that it never comes round */
		return;
	}
	t->reserved = task->tgid;
	strscpy(t->comm, comm, sizeof(t->comm));
	hodo_store_release(&t->tid, (uint32_t)task->pid);
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
	/* After the probes: who comes in between is there twice, not never. */
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
