/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the names of a traced process's threads.
 */
#include <string.h>

#include <base/file.h>
#include <base/scope.h>

#include "process_impl.h"
#include <proc/process.h>
#include <record/ring/shm.h>

#define REFRESH_MAX 256u /* names looked up at once */
#define KERNEL_THREADS_MAX (1u << 17) /* as many as a reader keeps */

static void set_thread(struct hodo_process *p, struct hodo_ctf_thread *t, uint32_t pid, const char *comm)
{
	if (strncmp(t->comm, comm, sizeof(t->comm)) == 0 && t->pid == pid)
		return;
	snprintf(t->comm, sizeof(t->comm), "%.15s", comm);
	t->pid = pid;
	p->threads_dirty = true;
}

void hodo_process_name_thread(struct hodo_process *p, uint32_t tid, uint32_t pid, const char *comm)
{
	bool is_new;
	struct hodo_ctf_thread *t;

	if (p->threads.n >= KERNEL_THREADS_MAX && !hodo_map_find(&p->threads, &tid)) {
		p->threads_full = true;
		return;
	}
	t = hodo_map_add(&p->threads, &tid, &is_new);
	if (!t)
		return;
	p->threads_dirty |= is_new;
	set_thread(p, t, pid, comm);
}

/* Each thread has one place, which a later thread may reuse. */
static void read_kernel_threads(struct hodo_process *p)
{
	const struct hodo_thread *table = (const struct hodo_thread *)(p->shm + HODO_SHM_THREADS);
	uint32_t stored = hodo_shm_load32(&((const struct hodo_shm *)p->shm)->threads);
	struct hodo_thread t;

	if (stored == p->threads_read)
		return;
	p->threads_read = stored;
	for (uint32_t i = 0; i < HODO_THREADS_MAX; i++)
		if (hodo_shm_thread(&table[i], &t))
			hodo_process_name_thread(p, t.tid, t.reserved, t.comm);
}

void hodo_process_read_threads(struct hodo_process *p, bool all)
{
	const struct hodo_shm *shm = (const struct hodo_shm *)p->shm;
	const struct hodo_thread *table = (const struct hodo_thread *)(p->shm + HODO_SHM_THREADS);
	uint32_t n = hodo_shm_load32(&shm->threads), budget = all ? HODO_THREADS_MAX : REFRESH_MAX;
	struct hodo_thread t;
	bool gap = false;

	if (p->kernel) {
		read_kernel_threads(p);
		return;
	}
	if (n > HODO_THREADS_MAX)
		n = HODO_THREADS_MAX;
	for (uint32_t i = p->threads_read; i < n && budget > 0; i++, budget--) {
		if (!hodo_shm_thread(&table[i], &t)) {
			gap = true;
			continue;
		}
		if (!gap)
			p->threads_read = i + 1;
		else if (!all)
			break;
		/* If several threads had the same tid in succession, the last name stays. */
		hodo_process_name_thread(p, t.tid, 0, t.comm);
	}
}

void hodo_process_refresh_threads(struct hodo_process *p)
{
	/* In another pid namespace, its tids are not those in our /proc. The kernel reports changed names. */
	if ((uint32_t)p->id.pid != p->id.vpid || p->kernel)
		return;
	for (uint32_t n = 0; n < REFRESH_MAX && n < p->threads.n; n++) {
		struct hodo_ctf_thread *t;
		char path[64], comm[17];

		if (p->threads_refreshed >= p->threads.n)
			p->threads_refreshed = 0;
		t = hodo_map_at(&p->threads, p->threads_refreshed++);
		snprintf(path, sizeof(path), "task/%u/comm", t->tid);
		/* The pid may have been reused by now. */
		if (hodo_proc_file(p->id.pid, path, comm, sizeof(comm)) > 0 && hodo_proc_lives(p->pidfd))
			set_thread(p, t, 0, comm);
	}
}

void hodo_process_name_threads(struct hodo_process *p)
{
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	char path[64], comm[17];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->id.pid);
	d = opendir(path);
	for (const char *name; p->threads.n < HODO_THREADS_MAX && (name = hodo_dir_next(d));) {
		unsigned long tid = strtoul(name, NULL, 10);
		struct hodo_proc_status status;

		snprintf(path, sizeof(path), "%.20s/comm", name);
		if (tid == 0 || hodo_file_line(dirfd(d), path, comm, sizeof(comm)) <= 0)
			continue;
		/* Its events have its pid in its own pid namespace. */
		if ((uint32_t)p->id.pid != p->id.vpid)
			tid = hodo_proc_status((pid_t)tid, &status) == 0 ? status.vpid : 0;
		/* What was read belongs to the process only if it is still alive. */
		if (tid != 0 && hodo_proc_lives(p->pidfd))
			hodo_process_name_thread(p, (uint32_t)tid, 0, comm);
	}
}
