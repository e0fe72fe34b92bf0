/* SPDX-License-Identifier: MIT */
/* top_cpu.c - hodo top: how much of a CPU threads had, as the system says; the threads themselves are not asked. */
#include "top.h"

#include <fcntl.h>
#include <stdlib.h>

#include <base/clock.h>
#include <base/file.h>

#define READ_MAX 1024u /* threads looked at in an interval, some microseconds each; of more, each has its turn */

/* What the thread had so far. False: it is gone, or the system does not say. */
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
	/* Another thread may have got the number: that it had less shows it mostly. */
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
