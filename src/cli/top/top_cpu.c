/* SPDX-License-Identifier: MIT */
/* top_cpu.c - hodo top: threads' CPU time, from the system; the threads themselves are not involved. */
#include "top.h"

#include <fcntl.h>
#include <stdlib.h>

#include <base/clock.h>
#include <base/file.h>

#define READ_MAX 1024u /* threads measured in an interval, some microseconds each; more take turns */

/* The thread's CPU time so far. False: it is gone, or the system does not tell. */
static bool read_cpu(const struct hodo_top_row *thread, uint64_t *ns)
{
	char path[64], text[96];
	char *end;

	/* The kernel's events have no process: there it is found by the thread's number alone. */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", thread->pid ? thread->pid : thread->number,
		 thread->number);
	if (hodo_file_line(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	*ns = strtoull(text, &end, 10);
	return *end == ' ';
}

static void see(struct hodo_top_row *thread)
{
	int64_t now = hodo_now_ns();
	uint64_t ns;

	if (!thread->here || !thread->number || !read_cpu(thread, &ns)) {
		thread->cpu_at = 0;
		thread->cpu = -1;
		return;
	}
	/* The tid may have been reused: usually, a smaller time shows that. */
	if (thread->cpu_at && now > thread->cpu_at && ns >= thread->cpu_ns) {
		thread->cpu = (double)(ns - thread->cpu_ns) / (double)(now - thread->cpu_at);
		thread->cpu = thread->cpu > 1 ? 1 : thread->cpu;
	}
	thread->cpu_ns = ns;
	thread->cpu_at = now;
}

void hodo_top_see_cpus(struct hodo_top_model *m)
{
	struct hodo_top_table *t = &m->table[HODO_TOP_THREADS];
	uint32_t n = t->n < READ_MAX ? t->n : READ_MAX;

	for (uint32_t i = 0; i < n; i++)
		see(&t->row[(m->cpus_seen + i) % t->n]);
	m->cpus_seen = t->n ? (m->cpus_seen + n) % t->n : 0;
}
