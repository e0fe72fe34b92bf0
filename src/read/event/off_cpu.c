/* SPDX-License-Identifier: MIT */
/*
 * off_cpu.c - see off_cpu.h.
 *
 * A thread that has an event is running. So each of its begins and ends checks its switches, and the switches
 * check each other: a thread that leaves twice, comes twice, or has an event while it is off, has lost a
 * switch. Tracking starts over there, and nothing is known of spans that began earlier.
 */
#include <read/read_impl.h>
#include "off_cpu.h"
#include "switches.h"

#include <base/map.h>
#include <errno.h>
#include <stdlib.h>

#define THREADS_MAX (1u << 17) /* tracked at once, as in scheduling.c */

enum where {
	NOT_SEEN,
	WATCHED, /* on or off: its next switch or event shows which */
	ON,
	OFF
};

struct thread {
	uint64_t id; /* thread_id() */
	enum where where;
	int64_t since_ns; /* since when no switch is missing */
	int64_t left_ns;  /* OFF */
	uint64_t off_ns, waits, preempted;
};

/* Where the fields of an event class are. */
struct binding {
	uint64_t address; /* of the class */
	struct hodo_sched_class is;
};

/* Each host has a kernel, and numbers of threads of its own. */
struct host {
	uint64_t number;
	const struct hodo_read_process *kernel;
};

struct hodo_off_cpu {
	struct hodo_map threads, bindings;
	struct hodo_map hosts; /* struct host: those of which a switch was seen */
};

/* ---------------------------------------------------------------------- threads */

/* The thread's state at that time does not fit: tracking starts over. */
static void begin_anew(struct thread *t, enum where where, int64_t ts_ns)
{
	t->where = where;
	t->since_ns = ts_ns;
	t->left_ns = ts_ns;
}

static void leaves(struct thread *t, int64_t ts_ns, enum hodo_sched_why why)
{
	if (t->where == OFF || t->where == NOT_SEEN)
		begin_anew(t, OFF, ts_ns);
	t->where = OFF;
	t->left_ns = ts_ns;
	if (why == HODO_SCHED_PREEMPTED)
		t->preempted++;
	else
		t->waits++;
}

static void comes(struct thread *t, int64_t ts_ns)
{
	if (t->where == ON || t->where == NOT_SEEN)
		begin_anew(t, ON, ts_ns);
	else if (t->where == OFF && ts_ns > t->left_ns)
		t->off_ns += (uint64_t)(ts_ns - t->left_ns);
	t->where = ON;
}

/* It has an event. */
static void runs(struct thread *t, int64_t ts_ns)
{
	if (t->where == OFF)
		begin_anew(t, ON, ts_ns);
	else if (t->where == WATCHED)
		t->where = ON;
}

static uint64_t thread_id(const struct hodo_read_process *of, uint32_t tid)
{
	return (uint64_t)of->host << 32 | tid;
}

/* The kernel of the process's host; NULL: no switch seen yet. */
static const struct hodo_read_process *kernel_of(const struct hodo_off_cpu *o, const struct hodo_read_process *process)
{
	const struct host *h = hodo_map_find_u64(&o->hosts, process->host);

	return h ? h->kernel : NULL;
}

/* NULL: no memory. */
static struct thread *thread_of(struct hodo_off_cpu *o, const struct hodo_read_process *kernel, uint32_t tid)
{
	uint64_t id = thread_id(kernel, tid);
	struct thread *t = hodo_map_find_u64(&o->threads, id);
	bool is_new;

	if (t)
		return t;
	/* Tracking starts over for forgotten ones. */
	if (o->threads.n >= THREADS_MAX)
		hodo_map_clear(&o->threads);
	t = hodo_map_add_u64(&o->threads, id, &is_new);
	if (t)
		*t = (struct thread){ .id = id, .where = NOT_SEEN, .since_ns = INT64_MAX };
	return t;
}

/* ----------------------------------------------------------------------- events */

int hodo_off_cpu_event(struct hodo_off_cpu *o, const struct hodo_read_event *e)
{
	bool is_new;
	struct binding *b = hodo_map_add_u64(&o->bindings, (uintptr_t)e->cls, &is_new);
	uint32_t out, in;
	struct thread *t;
	struct host *h;

	if (!b)
		return -ENOMEM;
	if (is_new)
		hodo_sched_bind(&b->is, e->cls);
	if (b->is.kind == HODO_SCHED_NOTHING || b->is.kind >= HODO_SCHED_WAKING)
		return 0;
	h = hodo_map_add_u64(&o->hosts, e->process->host, NULL);
	if (!h)
		return -ENOMEM;
	h->kernel = e->process;
	out = b->is.kind == HODO_SCHED_SWITCH || b->is.kind == HODO_SCHED_SWITCH_OUT ? hodo_sched_tid(&b->is, e) : 0;
	in = b->is.kind != HODO_SCHED_SWITCH_OUT ? hodo_sched_next(&b->is, e) : 0;
	if (out) {
		t = thread_of(o, e->process, out);
		if (!t)
			return -ENOMEM;
		leaves(t, e->ts_ns, hodo_sched_why(&b->is, e));
	}
	if (in) {
		t = thread_of(o, e->process, in);
		if (!t)
			return -ENOMEM;
		if (b->is.kind == HODO_SCHED_WATCHED)
			begin_anew(t, WATCHED, e->ts_ns);
		else
			comes(t, e->ts_ns);
	}
	return 0;
}

/* Of the thread at its event; NULL: nothing is known of it. */
static const struct thread *at_event(struct hodo_off_cpu *o, const struct hodo_read_event *e)
{
	struct thread *t;

	/* In another pid namespace, its threads have other tids than in the kernel's trace. */
	if (e->process->nested || !kernel_of(o, e->process))
		return NULL;
	t = hodo_map_find_u64(&o->threads, thread_id(e->process, e->tid));
	if (t)
		runs(t, e->ts_ns);
	return t;
}

/* ------------------------------------------------------------------ between two */

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

void hodo_off_cpu_mark(struct hodo_off_cpu *o, const struct hodo_read_event *e, struct hodo_off_mark *mark)
{
	const struct thread *t = at_event(o, e);

	*mark = (struct hodo_off_mark){ .ts_ns = e->ts_ns };
	mark->has_cpu_ns = cpu_time(e, &mark->cpu_ns);
	if (!t)
		return;
	mark->off_ns = t->off_ns;
	mark->waits = t->waits;
	mark->preempted = t->preempted;
}

/* By the thread's CPU time. */
static bool since_by_time(const struct hodo_read_event *e, const struct hodo_off_mark *mark, uint64_t duration_ns,
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

bool hodo_off_cpu_since(struct hodo_off_cpu *o, const struct hodo_read_event *e, const struct hodo_off_mark *mark,
			struct hodo_read_off_cpu *result)
{
	const struct thread *t = at_event(o, e);
	uint64_t duration_ns = e->ts_ns > mark->ts_ns ? (uint64_t)(e->ts_ns - mark->ts_ns) : 0;

	if (!t || t->since_ns > mark->ts_ns ||
	    hodo_losses_between(kernel_of(o, e->process), HODO_LOSSES_ANY_CPU, mark->ts_ns, e->ts_ns))
		return since_by_time(e, mark, duration_ns, result);
	*result = (struct hodo_read_off_cpu){ .size = sizeof(*result), .ns = t->off_ns - mark->off_ns, .counted = true,
					      .waits = t->waits - mark->waits,
					      .preempted = t->preempted - mark->preempted };
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

/* ---------------------------------------------------------------- start and end */

struct hodo_off_cpu *hodo_off_cpu_new(void)
{
	struct hodo_off_cpu *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->threads = (struct hodo_map)HODO_MAP(struct thread, id);
	o->hosts = (struct hodo_map)HODO_MAP(struct host, number);
	o->bindings = (struct hodo_map)HODO_MAP(struct binding, address);
	return o;
}

void hodo_off_cpu_rewind(struct hodo_off_cpu *o)
{
	hodo_map_clear(&o->threads);
	hodo_map_clear(&o->hosts);
}

void hodo_off_cpu_free(struct hodo_off_cpu *o)
{
	if (!o)
		return;
	hodo_map_free(&o->threads);
	hodo_map_free(&o->hosts);
	hodo_map_free(&o->bindings);
	free(o);
}
