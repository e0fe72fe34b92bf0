/* SPDX-License-Identifier: MIT */
/* off_cpu.c - how long a thread did not run between two of its events: from its sum, or the CPU time in the events. */
#include "losses.h"
#include "runs.h"

#include <read/file/reader.h>
#include <read/file/trace.h>

#include <string.h>

/* Where events of the class say their thread's CPU time; -1: nowhere. */
static int cpu_time_at(const struct hodo_read_class *cls)
{
	for (uint32_t i = 0; i < cls->ncontext; i++)
		if (cls->context[i].type == HODO_TYPE_U64 && strcmp(cls->context[i].name, "cpu_time") == 0)
			return (int)i;
	return -1;
}

/* The thread's CPU time in the event; false: none. */
static bool cpu_time(const struct hodo_read_event *e, uint64_t *ns)
{
	int at = cpu_time_at(e->cls);

	if (at >= 0)
		*ns = e->context[at].u;
	return at >= 0;
}

void hodo_runs_mark(struct hodo_runs *s, const struct hodo_read_event *e, struct hodo_runs_mark *mark)
{
	*mark = (struct hodo_runs_mark){ .ts_ns = e->ts_ns };
	mark->has_cpu_ns = cpu_time(e, &mark->cpu_ns);
	hodo_runs_sum(s, e, &mark->sum);
}

/* By the thread's CPU time. */
static bool since_by_time(const struct hodo_read_event *e, const struct hodo_runs_mark *mark, uint64_t duration_ns,
			  struct hodo_read_off_cpu *result)
{
	uint64_t cpu_ns;

	if (!mark->has_cpu_ns || !cpu_time(e, &cpu_ns) || cpu_ns < mark->cpu_ns)
		return false;
	cpu_ns -= mark->cpu_ns;
	/*
	 * Each is read shortly before its event: a thread that ran all the time may seem to have run for
	 * longer.
	 */
	*result = (struct hodo_read_off_cpu){ .size = sizeof(*result),
					      .ns = duration_ns > cpu_ns ? duration_ns - cpu_ns : 0 };
	return true;
}

bool hodo_runs_since(struct hodo_runs *s, const struct hodo_read_event *e, const struct hodo_runs_mark *mark,
		     struct hodo_read_off_cpu *result)
{
	struct hodo_runs_sum sum;
	uint64_t duration_ns = e->ts_ns > mark->ts_ns ? (uint64_t)(e->ts_ns - mark->ts_ns) : 0;

	if (!hodo_runs_sum(s, e, &sum) || sum.since_ns > mark->ts_ns ||
	    hodo_losses_between(sum.kernel, HODO_LOSSES_ANY_CPU, mark->ts_ns, e->ts_ns))
		return since_by_time(e, mark, duration_ns, result);
	*result = (struct hodo_read_off_cpu){ .size = sizeof(*result), .counted = true,
					      .ns = sum.off_ns - mark->sum.off_ns,
					      .waits = sum.waits - mark->sum.waits,
					      .preempted = sum.preempted - mark->sum.preempted };
	if (result->ns > duration_ns)
		result->ns = duration_ns;
	return true;
}

/* -------------------------------------------------------------------- recording */

static bool says(const struct hodo_read_process *p, const struct hodo_read_class *cls)
{
	struct hodo_sched_class is = { .kind = HODO_SCHED_NOTHING };

	if (p->kernel)
		hodo_sched_bind(&is, cls);
	return (is.kind != HODO_SCHED_NOTHING && is.kind < HODO_SCHED_WAKING) || cpu_time_at(cls) >= 0;
}

bool hodo_off_cpu_recorded(const struct hodo_read *reader)
{
	for (uint32_t i = 0; i < reader->ntraces; i++) {
		const struct hodo_read_process *p = &reader->traces[i]->pub;

		for (uint32_t k = 0; k < p->nclasses; k++)
			if (says(p, p->classes[k]))
				return true;
	}
	return false;
}
