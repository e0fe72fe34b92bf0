/* SPDX-License-Identifier: MIT */
/*
 * off_cpu.c - see off_cpu.h.
 *
 * A thread that has an event runs. So what its switches say is checked by each of its begins and ends, and by the
 * switches themselves: one that leaves twice, or comes twice, or has an event while it is off, has lost a switch. From
 * there on it is followed anew, and a span that began before is not known.
 */
#include "off_cpu.h"
#include "switches.h"

#include <base/map.h>
#include <errno.h>
#include <stdlib.h>

#define THREADS_MAX (1u << 17) /* known at once, as in scheduling.c */

enum where {
	NOT_SEEN,
	WATCHED, /* on or off: its next switch or event says which */
	ON,
	OFF
};

struct thread {
	uint64_t tid;
	enum where where;
	int64_t since_ns; /* from when on no switch is missing */
	int64_t left_ns;  /* OFF */
	uint64_t off_ns, waits, preempted;
};

/* Where the fields of an event class are. */
struct binding {
	uint64_t address; /* of the class */
	struct hodo_sched_class is;
};

struct hodo_off_cpu {
	const struct hodo_read_process *kernel; /* NULL: no switch was seen yet */
	struct hodo_map threads, bindings;
};

/* ---------------------------------------------------------------------- threads */

/* The thread is there, or not, at that time, and is seen to be what does not fit: followed anew. */
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

/* NULL: no memory. */
static struct thread *thread_of(struct hodo_off_cpu *o, uint32_t tid)
{
	struct thread *t = hodo_map_find_u64(&o->threads, tid);
	bool is_new;

	if (t)
		return t;
	/* Forgotten ones are followed anew. */
	if (o->threads.n >= THREADS_MAX)
		hodo_map_clear(&o->threads);
	t = hodo_map_add_u64(&o->threads, tid, &is_new);
	if (t)
		*t = (struct thread){ .tid = tid, .where = NOT_SEEN, .since_ns = INT64_MAX };
	return t;
}

/* ----------------------------------------------------------------------- events */

int hodo_off_cpu_event(struct hodo_off_cpu *o, const struct hodo_read_event *e)
{
	bool is_new;
	struct binding *b = hodo_map_add_u64(&o->bindings, (uintptr_t)e->cls, &is_new);
	uint32_t out, in;
	struct thread *t;

	if (!b)
		return -ENOMEM;
	if (is_new)
		hodo_sched_bind(&b->is, e->cls);
	if (b->is.kind == HODO_SCHED_NOTHING || b->is.kind >= HODO_SCHED_WAKING)
		return 0;
	o->kernel = e->process;
	out = b->is.kind == HODO_SCHED_SWITCH || b->is.kind == HODO_SCHED_SWITCH_OUT ? hodo_sched_tid(&b->is, e) : 0;
	in = b->is.kind != HODO_SCHED_SWITCH_OUT ? hodo_sched_next(&b->is, e) : 0;
	if (out) {
		t = thread_of(o, out);
		if (!t)
			return -ENOMEM;
		leaves(t, e->ts_ns, hodo_sched_why(&b->is, e));
	}
	if (in) {
		t = thread_of(o, in);
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

	/* In a pid namespace of its own its threads have other numbers than the kernel's trace says. */
	if (!o->kernel || e->process->nested)
		return NULL;
	t = hodo_map_find_u64(&o->threads, e->tid);
	if (t)
		runs(t, e->ts_ns);
	return t;
}

/* ------------------------------------------------------------------ between two */

/* What the event says of its thread's CPU time; false: nothing. */
static bool cpu_time(const struct hodo_read_event *e, uint64_t *ns)
{
	for (uint32_t i = 0; i < e->cls->ncontext; i++) {
		const struct hodo_read_field *f = &e->cls->context[i];

		if (f->type == HODO_TYPE_U64 && strcmp(f->name, "cpu_time") == 0) {
			*ns = e->context[i].u;
			return true;
		}
	}
	return false;
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
	/* Each is read a little before its event: a thread that ran all the time may seem to have run for longer. */
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
	    hodo_losses_between(o->kernel, HODO_LOSSES_ANY_CPU, mark->ts_ns, e->ts_ns))
		return since_by_time(e, mark, duration_ns, result);
	*result = (struct hodo_read_off_cpu){ .size = sizeof(*result), .ns = t->off_ns - mark->off_ns, .counted = true,
					      .waits = t->waits - mark->waits,
					      .preempted = t->preempted - mark->preempted };
	if (result->ns > duration_ns)
		result->ns = duration_ns;
	return true;
}

/* ---------------------------------------------------------------- start and end */

struct hodo_off_cpu *hodo_off_cpu_new(void)
{
	struct hodo_off_cpu *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->threads = (struct hodo_map)HODO_MAP(struct thread, tid);
	o->bindings = (struct hodo_map)HODO_MAP(struct binding, address);
	return o;
}

void hodo_off_cpu_rewind(struct hodo_off_cpu *o)
{
	hodo_map_clear(&o->threads);
	o->kernel = NULL;
}

void hodo_off_cpu_free(struct hodo_off_cpu *o)
{
	if (!o)
		return;
	hodo_map_free(&o->threads);
	hodo_map_free(&o->bindings);
	free(o);
}
