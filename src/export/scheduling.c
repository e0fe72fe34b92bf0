/* SPDX-License-Identifier: MIT */
/*
 * scheduling.c - see scheduling.h.
 *
 * A CPU knows which thread runs there and since when; a thread knows whether it is on a CPU, or since when and why
 * it is off and when it was woken. Both come of the same events and checked against each other: where they differ
 * an event was lost, and what was begun before is ended where it was seen last: of the time between nothing is known.
 */
#define _GNU_SOURCE
#include "scheduling.h"

#include <base/map.h>
#include <base/vec.h>
#include <errno.h>
#include <read/fields.h>
#include <read/threads.h>
#include <stdlib.h>
#include <string.h>

#define NONE        INT64_MIN
#define THREADS_MAX (1u << 17) /* known at once; the kernel's own limit is 4 million, of which few run */

enum what { IGNORED, SWITCH, WAKING, WAKEUP, WAKEUP_NEW };
enum { PREV_TID, NEXT_TID, PREV_STATE, FIELDS }; /* SWITCH */
enum { TID };                                    /* the others */

/* Where the fields of an event class are; -1: it has none. */
struct binding {
	uint64_t address; /* of the class */
	enum what what;
	int field[FIELDS];
};

enum where { NOWHERE, ON, OFF };

struct thread {
	uint64_t tid;
	uint32_t pid;
	enum where where; /* NOWHERE: not seen yet, or new */
	enum hodo_sched_why why;
	int32_t cpu; /* ON; -1: not known */
	int64_t off_ns, woken_ns; /* woken_ns while ON: sched_waking, the wake-up has not come yet */
	uint32_t waker; /* 0 where woken_ns is no wake-up's */
};

struct cpu {
	bool known;
	uint32_t tid, pid;
	int64_t begin_ns, seen_ns; /* seen_ns: when it was last seen to run */
	bool was_off;
	struct hodo_sched_off off; /* was_off: before it ran */
};

struct hodo_sched {
	struct hodo_sched_ops ops;
	void *data;
	const struct hodo_read_process *kernel; /* of the last event */
	struct hodo_map bindings, threads;
	struct cpu *cpus;
	uint32_t ncpus;
	uint64_t forgotten;
};

/* ---------------------------------------------------------------------- classes */

static int find_integer(const struct hodo_read_class *cls, const char *name)
{
	int i = hodo_read_field(cls, name);

	return i >= 0 && cls->fields[i].type >= HODO_TYPE_I8 && cls->fields[i].type <= HODO_TYPE_U64 ? i : -1;
}

static void bind(struct binding *b, const struct hodo_read_class *cls)
{
	static const char *const names[] = { [SWITCH] = "sched:sched_switch", [WAKING] = "sched:sched_waking",
					     [WAKEUP] = "sched:sched_wakeup", [WAKEUP_NEW] = "sched:sched_wakeup_new" };

	for (unsigned i = SWITCH; i <= WAKEUP_NEW; i++)
		if (strcmp(cls->name, names[i]) == 0)
			b->what = (enum what)i;
	b->field[PREV_STATE] = find_integer(cls, "prev_state");
	b->field[NEXT_TID] = find_integer(cls, "next_pid");
	b->field[TID] = find_integer(cls, b->what == SWITCH ? "prev_pid" : "pid");
	if (b->field[TID] < 0 || (b->what == SWITCH && b->field[NEXT_TID] < 0))
		b->what = IGNORED;
}

/* As many as the recording's metadata has. NULL: no memory. */
static const struct binding *binding_of(struct hodo_sched *s, const struct hodo_read_class *cls)
{
	bool is_new;
	struct binding *b = hodo_map_add_u64(&s->bindings, (uintptr_t)cls, &is_new);

	if (b && is_new)
		bind(b, cls);
	return b;
}

/* ---------------------------------------------------------------------- threads */

/* Forgets those that are on no CPU, or all. */
static void forget_threads(struct hodo_sched *s, bool all)
{
	uint32_t had = s->threads.n;

	for (uint32_t i = had; i-- > 0;) {
		struct thread *t = hodo_map_at(&s->threads, i);

		if (all || t->where != ON)
			hodo_map_remove(&s->threads, t);
	}
	s->forgotten += had - s->threads.n;
}

/* tid is not 0. NULL: no memory. Until the next one. */
static struct thread *thread_of(struct hodo_sched *s, uint32_t tid)
{
	const struct hodo_read_thread *known;
	struct thread *t = hodo_map_find_u64(&s->threads, tid);

	if (t)
		return t;
	/* Those on a CPU are as many as CPUs, but a recording that is made up has them, too. */
	if (s->threads.n >= THREADS_MAX)
		forget_threads(s, false);
	if (s->threads.n >= THREADS_MAX)
		forget_threads(s, true);
	t = hodo_map_add_u64(&s->threads, tid, NULL);
	if (!t)
		return NULL;
	known = hodo_read_thread(s->kernel, tid);
	*t = (struct thread){ .tid = tid, .pid = known ? known->pid : 0, .cpu = -1, .off_ns = NONE, .woken_ns = NONE,
			      .why = HODO_SCHED_UNKNOWN };
	return t;
}

/* Its name at this time. */
static const char *name_of(const struct hodo_sched *s, uint32_t tid)
{
	const char *name = tid ? hodo_read_thread_comm(s->kernel, tid) : "swapper";

	return name ? name : "?";
}

/* Its number may be another one's from now on. */
static void remove_thread(struct hodo_sched *s, uint32_t tid)
{
	struct thread *t = hodo_map_find_u64(&s->threads, tid);

	if (t)
		hodo_map_remove(&s->threads, t);
}

/* ------------------------------------------------------------------------- CPUs */

static struct cpu *cpu_of(struct hodo_sched *s, int32_t cpu)
{
	while (s->ncpus <= (uint32_t)cpu)
		if (!hodo_vec_add(s->cpus, s->ncpus))
			return NULL;
	return &s->cpus[cpu];
}

static void end_run(struct hodo_sched *s, struct cpu *c, int64_t end_ns, enum hodo_sched_why why)
{
	struct hodo_sched_ran ran = { .cpu = (int32_t)(c - s->cpus), .pid = c->pid, .tid = c->tid,
				      .begin_ns = c->begin_ns, .end_ns = end_ns, .why = why,
				      .off = c->was_off ? &c->off : NULL };

	if (c->known && end_ns > c->begin_ns && s->ops.ran) {
		ran.comm = name_of(s, c->tid);
		s->ops.ran(s->data, &ran);
	}
	c->known = false;
}

/* The thread is elsewhere: that it went from its CPU was lost. */
static void end_elsewhere(struct hodo_sched *s, const struct thread *t)
{
	struct cpu *c = t->where == ON && t->cpu >= 0 ? &s->cpus[t->cpu] : NULL;

	if (c && c->known && c->tid == t->tid)
		end_run(s, c, c->seen_ns, HODO_SCHED_UNKNOWN);
}

/* ----------------------------------------------------------------------- events */

static uint64_t number(const struct hodo_read_event *e, int field)
{
	return field < 0 ? UINT64_MAX : e->values[field].u;
}

/* Bits as the kernel's tracepoint has them since 4.14; the highest says that it was preempted. */
static enum hodo_sched_why why_of(uint64_t state)
{
	enum { SLEEPS = 1, BLOCKED = 2, STOPPED = 4, TRACED = 8, DEAD = 16, ZOMBIE = 32, PARKED = 64, IDLE = 128,
	       PREEMPTED = 256 };

	if (state >= 2 * PREEMPTED)
		return HODO_SCHED_UNKNOWN;
	if (state == 0 || state & PREEMPTED)
		return HODO_SCHED_PREEMPTED;
	if (state & (DEAD | ZOMBIE))
		return HODO_SCHED_ENDED;
	if (state & (STOPPED | TRACED | PARKED))
		return HODO_SCHED_STOPPED;
	/* A kernel's thread that has nothing to do waits in a way of its own. */
	return state & (SLEEPS | IDLE) ? HODO_SCHED_SLEEPS : HODO_SCHED_BLOCKED;
}

/* -1: not known. */
static int32_t cpu_number(const struct hodo_read_event *e)
{
	return e->cpu < (int32_t)HODO_CPUS_MAX ? e->cpu : -1;
}

static int switch_out(struct hodo_sched *s, const struct hodo_read_event *e, const struct binding *b,
		      enum hodo_sched_why why)
{
	uint32_t tid = (uint32_t)number(e, b->field[PREV_TID]);
	struct thread *t;
	bool early;

	if (!tid)
		return 0;
	if (why == HODO_SCHED_ENDED) {
		remove_thread(s, tid);
		return 0;
	}
	t = thread_of(s, tid);
	if (!t)
		return -ENOMEM;
	if (t->cpu != cpu_number(e))
		end_elsewhere(s, t);
	/* Another CPU may wake it between its decision to wait and the switch. */
	early = t->where == ON && t->woken_ns != NONE;
	t->where = OFF;
	t->why = why;
	t->off_ns = e->ts_ns;
	t->woken_ns = early || why == HODO_SCHED_PREEMPTED ? e->ts_ns : NONE;
	if (!early)
		t->waker = 0;
	return 0;
}

static int switch_in(struct hodo_sched *s, const struct hodo_read_event *e, const struct binding *b)
{
	uint32_t tid = (uint32_t)number(e, b->field[NEXT_TID]);
	struct hodo_sched_off off = { .cpu = cpu_number(e), .tid = tid, .on_ns = e->ts_ns };
	struct thread *t = tid ? thread_of(s, tid) : NULL;
	bool was_off = t && (t->where == OFF || (t->where == NOWHERE && t->woken_ns != NONE));

	if (tid && !t)
		return -ENOMEM;
	if (t) {
		end_elsewhere(s, t);
		off.pid = t->pid;
		off.off_ns = t->off_ns;
		off.woken_ns = t->woken_ns;
		off.why = t->why;
		off.waker = t->waker;
		t->where = ON;
		t->cpu = off.cpu;
		t->off_ns = t->woken_ns = NONE;
		t->waker = 0;
	}
	if (off.cpu >= 0)
		s->cpus[off.cpu] = (struct cpu){ .known = true, .tid = tid, .pid = off.pid, .begin_ns = e->ts_ns,
						 .seen_ns = e->ts_ns, .was_off = was_off, .off = off };
	if (was_off && s->ops.off) {
		off.comm = name_of(s, tid);
		s->ops.off(s->data, &off);
	}
	return 0;
}

static int switched(struct hodo_sched *s, const struct hodo_read_event *e, const struct binding *b)
{
	enum hodo_sched_why why = why_of(number(e, b->field[PREV_STATE]));
	struct cpu *c = cpu_number(e) >= 0 ? &s->cpus[e->cpu] : NULL;
	int err;

	if (c && c->known && c->tid == (uint32_t)number(e, b->field[PREV_TID]))
		end_run(s, c, e->ts_ns, c->tid ? why : HODO_SCHED_PREEMPTED);
	else if (c)
		end_run(s, c, c->seen_ns, HODO_SCHED_UNKNOWN);
	err = switch_out(s, e, b, why);
	return err ? err : switch_in(s, e, b);
}

static int woken(struct hodo_sched *s, const struct hodo_read_event *e, const struct binding *b)
{
	uint32_t tid = (uint32_t)number(e, b->field[TID]);
	struct thread *t = tid ? thread_of(s, tid) : NULL;
	/* sched_wakeup may come from the CPU that the thread will run on: what runs there has nothing to do with it. */
	uint32_t waker = b->what == WAKEUP ? 0 : e->tid;

	if (!t)
		return tid ? -ENOMEM : 0;
	if (b->what == WAKEUP_NEW) {
		end_elsewhere(s, t);
		t->where = NOWHERE;
		t->why = HODO_SCHED_UNKNOWN;
		t->off_ns = NONE;
		t->woken_ns = e->ts_ns;
		t->waker = waker;
	} else if (t->where == ON) {
		/* Woken before it has switched, it goes on: sched_wakeup then comes at once. */
		t->woken_ns = b->what == WAKING ? e->ts_ns : NONE;
		t->waker = waker;
	} else if (t->woken_ns == NONE) {
		t->woken_ns = e->ts_ns;
		t->waker = waker;
	}
	return 0;
}

/* An event is one of who runs on its CPU at that time. */
static int see(struct hodo_sched *s, const struct hodo_read_event *e)
{
	struct cpu *c = cpu_of(s, e->cpu);

	if (!c)
		return -ENOMEM;
	if (!c->known)
		*c = (struct cpu){ .known = true, .tid = e->tid, .pid = e->pid, .begin_ns = e->ts_ns };
	if (c->tid == e->tid)
		c->seen_ns = e->ts_ns;
	return 0;
}

int hodo_sched_event(struct hodo_sched *s, const struct hodo_read_event *e)
{
	const struct binding *b;
	int err = 0;

	if (!e->process->kernel)
		return 0;
	b = binding_of(s, e->cls);
	if (!b)
		return -ENOMEM;
	if (b->what == IGNORED)
		return 0;
	s->kernel = e->process;
	if (cpu_number(e) >= 0)
		err = see(s, e);
	if (err)
		return err;
	return b->what == SWITCH ? switched(s, e, b) : woken(s, e, b);
}

int hodo_sched_end(struct hodo_sched *s, int64_t ts_ns)
{
	for (uint32_t i = 0; i < s->ncpus; i++)
		end_run(s, &s->cpus[i], ts_ns, HODO_SCHED_UNKNOWN);
	return 0;
}

uint64_t hodo_sched_forgotten(const struct hodo_sched *s)
{
	return s->forgotten;
}

const char *hodo_sched_why_text(uint32_t why)
{
	static const char *const texts[] = {
		[HODO_SCHED_PREEMPTED] = "preempted", [HODO_SCHED_SLEEPS] = "sleeps",
		[HODO_SCHED_BLOCKED] = "blocked",     [HODO_SCHED_STOPPED] = "stopped",
		[HODO_SCHED_ENDED] = "ended",         [HODO_SCHED_UNKNOWN] = "unknown",
	};

	return texts[why <= HODO_SCHED_UNKNOWN ? why : HODO_SCHED_UNKNOWN];
}

struct hodo_sched *hodo_sched_new(const struct hodo_sched_ops *ops, void *data)
{
	struct hodo_sched *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ops = *ops;
	s->data = data;
	s->bindings = (struct hodo_map)HODO_MAP(struct binding, address);
	s->threads = (struct hodo_map)HODO_MAP(struct thread, tid);
	return s;
}

void hodo_sched_free(struct hodo_sched *s)
{
	if (!s)
		return;
	hodo_map_free(&s->bindings);
	hodo_map_free(&s->threads);
	free(s->cpus);
	free(s);
}
