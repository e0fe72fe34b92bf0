/* SPDX-License-Identifier: MIT */
/*
 * runs.c - who ran when, on which CPU if that is known, and for how long not.
 *
 * A CPU knows which thread runs there and since when; a thread knows whether it is on a CPU, or since when
 * and why it is off and when it was woken. Both come from the same events and are checked against each other:
 * if they differ, an event was lost, and what had begun ends where it was last seen; nothing is known of the
 * time in between.
 *
 * How long a thread has been off is a sum, which holds for times since when none of its switches is missing: it starts
 * over if a thread leaves twice, comes twice, or has an event of its own while it is off.
 */
#include "runs.h"
#include "threads.h"

#include <base/map.h>
#include <base/vec.h>
#include <read/file/trace.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE        INT64_MIN
#define THREADS_MAX (1u << 17) /* known at once; the kernel's limit is 4 million, few of which run */

struct binding {
	uint64_t address; /* of the class */
	struct hodo_sched_class is;
};

enum where { NOWHERE, ON, OFF };

struct thread {
	uint64_t tid;
	uint32_t pid;
	enum where where; /* NOWHERE: not seen yet, or new, or only watched from now on */
	enum hodo_sched_why why;
	int32_t cpu; /* ON; -1: not known */
	int64_t off_ns, woken_ns; /* woken_ns while ON: from sched_waking, before the wake-up */
	uint32_t waker; /* 0 if woken_ns is not from a wake-up */
	struct hodo_runs_sum sum; /* since_ns INT64_MAX: no switch was seen */
};

struct cpu {
	bool known;
	uint32_t tid, pid;
	int64_t begin_ns, seen_ns; /* seen_ns: when it was last seen to run */
	bool was_off;
	struct hodo_sched_off off; /* was_off: before it ran */
};

/* A host: it has threads and CPUs of its own. */
struct host {
	struct hodo_runs_ops ops;
	void *data;
	const struct hodo_read_process *kernel; /* of the last event; NULL: there was none */
	struct hodo_map bindings, threads;
	struct cpu *cpus;
	uint32_t ncpus;
	uint64_t forgotten;
};

struct hodo_runs {
	struct hodo_runs_ops ops;
	void *data;
	struct host **host; /* by number; NULL: none of its events was seen */
	uint32_t nhosts;
};

/* ---------------------------------------------------------------------- classes */

/* As many as the recording's metadata has. NULL: no memory. */
static const struct binding *binding_of(struct host *s, const struct hodo_read_class *cls)
{
	bool is_new;
	struct binding *b = hodo_map_add_u64(&s->bindings, (uintptr_t)cls, &is_new);

	if (b && is_new)
		hodo_sched_bind(&b->is, cls);
	return b;
}

/* ---------------------------------------------------------------------- threads */

/* Forgets those that are on no CPU, or all. */
static void forget_threads(struct host *s, bool all)
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
static struct thread *thread_of(struct host *s, uint32_t tid)
{
	const struct hodo_read_thread *known;
	struct thread *t = hodo_map_find_u64(&s->threads, tid);

	if (t)
		return t;
	/* There are at most as many on a CPU as CPUs, unless the recording is forged. */
	if (s->threads.n >= THREADS_MAX)
		forget_threads(s, false);
	if (s->threads.n >= THREADS_MAX)
		forget_threads(s, true);
	t = hodo_map_add_u64(&s->threads, tid, NULL);
	if (!t)
		return NULL;
	known = hodo_read_thread(s->kernel, tid);
	*t = (struct thread){ .tid = tid, .pid = known ? known->pid : 0, .cpu = -1, .off_ns = NONE, .woken_ns = NONE,
			      .why = HODO_SCHED_UNKNOWN, .sum.since_ns = INT64_MAX };
	return t;
}

/* Its name at this time. */
static const char *name_of(const struct host *s, uint32_t tid)
{
	struct hodo_thread_names *names = &hodo_trace_of(s->kernel)->names;
	const char *name = tid ? hodo_read_known_thread(names, s->kernel, tid)->comm : "swapper";

	return name ? name : "?";
}

/* Its tid may be reused from now on. */
static void remove_thread(struct host *s, uint32_t tid)
{
	struct thread *t = hodo_map_find_u64(&s->threads, tid);

	if (t)
		hodo_map_remove(&s->threads, t);
}

/* ------------------------------------------------------------------------- CPUs */

static struct cpu *cpu_of(struct host *s, int32_t cpu)
{
	while (s->ncpus <= (uint32_t)cpu)
		if (!hodo_vec_add(s->cpus, s->ncpus))
			return NULL;
	return &s->cpus[cpu];
}

static void end_run(struct host *s, struct cpu *c, int64_t end_ns, enum hodo_sched_why why)
{
	struct hodo_sched_ran ran = { .cpu = (int32_t)(c - s->cpus), .pid = c->pid, .tid = c->tid,
				      .begin_ns = c->begin_ns, .end_ns = end_ns, .why = why, .kernel = s->kernel,
				      .off = c->was_off ? &c->off : NULL };

	if (c->known && end_ns > c->begin_ns && s->ops.ran) {
		ran.comm = name_of(s, c->tid);
		s->ops.ran(s->data, &ran);
	}
	c->known = false;
}

/* The thread is elsewhere: its leaving its CPU was lost. */
static void end_elsewhere(struct host *s, const struct thread *t)
{
	struct cpu *c = t->where == ON && t->cpu >= 0 ? &s->cpus[t->cpu] : NULL;

	if (c && c->known && c->tid == t->tid)
		end_run(s, c, c->seen_ns, HODO_SCHED_UNKNOWN);
}

/* ----------------------------------------------------------------------- events */

/* -1: not known. */
static int32_t cpu_number(const struct hodo_read_event *e)
{
	return e->cpu < (int32_t)HODO_CPUS_MAX ? e->cpu : -1;
}

static int switch_out(struct host *s, const struct hodo_read_event *e, uint32_t tid, enum hodo_sched_why why)
{
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
	if (t->where == OFF || t->sum.since_ns == INT64_MAX)
		t->sum.since_ns = e->ts_ns;
	*(why == HODO_SCHED_PREEMPTED ? &t->sum.preempted : &t->sum.waits) += 1;
	t->where = OFF;
	t->why = why;
	t->off_ns = e->ts_ns;
	t->woken_ns = early || why == HODO_SCHED_PREEMPTED ? e->ts_ns : NONE;
	if (!early)
		t->waker = 0;
	return 0;
}

static int switch_in(struct host *s, const struct hodo_read_event *e, uint32_t tid)
{
	struct hodo_sched_off off = { .cpu = cpu_number(e), .tid = tid, .on_ns = e->ts_ns, .kernel = s->kernel };
	struct thread *t = tid ? thread_of(s, tid) : NULL;
	bool was_off = t && (t->where == OFF || (t->where == NOWHERE && t->woken_ns != NONE));

	if (tid && !t)
		return -ENOMEM;
	if (t) {
		end_elsewhere(s, t);
		if (t->where == ON || t->sum.since_ns == INT64_MAX)
			t->sum.since_ns = e->ts_ns;
		else if (t->where == OFF && e->ts_ns > t->off_ns)
			t->sum.off_ns += (uint64_t)(e->ts_ns - t->off_ns);
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

/* The thread leaves its CPU: if it did not run there, earlier events were lost. */
static void leave_cpu(struct host *s, const struct hodo_read_event *e, uint32_t tid, enum hodo_sched_why why)
{
	struct cpu *c = cpu_number(e) >= 0 ? &s->cpus[e->cpu] : NULL;

	if (c && c->known && c->tid == tid)
		end_run(s, c, e->ts_ns, tid ? why : HODO_SCHED_PREEMPTED);
	else if (c)
		end_run(s, c, c->seen_ns, HODO_SCHED_UNKNOWN);
}

static int switched(struct host *s, const struct hodo_read_event *e, const struct hodo_sched_class *c)
{
	enum hodo_sched_why why = hodo_sched_why(c, e);
	uint32_t tid = hodo_sched_tid(c, e);
	int err = 0;

	if (c->kind == HODO_SCHED_SWITCH_IN) {
		if (cpu_number(e) >= 0)
			end_run(s, &s->cpus[e->cpu], s->cpus[e->cpu].seen_ns, HODO_SCHED_UNKNOWN);
	} else {
		leave_cpu(s, e, tid, why);
		err = switch_out(s, e, tid, why);
	}
	if (err || c->kind == HODO_SCHED_SWITCH_OUT)
		return err;
	return switch_in(s, e, hodo_sched_next(c, e));
}

static int woken(struct host *s, const struct hodo_read_event *e, const struct hodo_sched_class *c)
{
	uint32_t tid = hodo_sched_tid(c, e);
	struct thread *t = tid ? thread_of(s, tid) : NULL;
	/*
	 * sched_wakeup may come from the CPU that the thread will run on: the thread running there is
	 * unrelated.
	 */
	uint32_t waker = c->kind == HODO_SCHED_WAKEUP ? 0 : e->tid;

	if (!t)
		return tid ? -ENOMEM : 0;
	if (c->kind == HODO_SCHED_WAKEUP_NEW) {
		end_elsewhere(s, t);
		t->where = NOWHERE;
		t->sum.since_ns = e->ts_ns;
		t->why = HODO_SCHED_UNKNOWN;
		t->off_ns = NONE;
		t->woken_ns = e->ts_ns;
		t->waker = waker;
	} else if (t->where == ON) {
		/* Woken before it has switched, it runs on: sched_wakeup then follows at once. */
		t->woken_ns = c->kind == HODO_SCHED_WAKING ? e->ts_ns : NONE;
		t->waker = waker;
	} else if (t->woken_ns == NONE) {
		t->woken_ns = e->ts_ns;
		t->waker = waker;
	}
	return 0;
}

/*
 * An event belongs to the thread that runs on its CPU at that time, except for the one by which it comes
 * there.
 */
static int see(struct host *s, const struct hodo_read_event *e, bool runs)
{
	struct cpu *c = cpu_of(s, e->cpu);

	if (!c || !runs)
		return c ? 0 : -ENOMEM;
	if (!c->known)
		*c = (struct cpu){ .known = true, .tid = e->tid, .pid = e->pid, .begin_ns = e->ts_ns };
	if (c->tid == e->tid)
		c->seen_ns = e->ts_ns;
	return 0;
}

/* From here on none of its switches is missing; the next one shows whether it is on or off. */
static int watched(struct host *s, const struct hodo_read_event *e)
{
	struct thread *t = e->tid ? thread_of(s, e->tid) : NULL;

	if (!t)
		return e->tid ? -ENOMEM : 0;
	t->where = NOWHERE;
	t->sum.since_ns = e->ts_ns;
	return 0;
}

static int host_event(struct host *s, const struct hodo_read_event *e)
{
	const struct binding *b = binding_of(s, e->cls);
	int err = 0;

	if (!b)
		return -ENOMEM;
	if (b->is.kind == HODO_SCHED_NOTHING || (b->is.kind >= HODO_SCHED_WAKING && !s->ops.ran && !s->ops.off))
		return 0;
	s->kernel = e->process;
	if (b->is.kind == HODO_SCHED_WATCHED)
		return watched(s, e);
	if (cpu_number(e) >= 0)
		err = see(s, e, b->is.kind != HODO_SCHED_SWITCH_IN);
	if (err)
		return err;
	return b->is.kind < HODO_SCHED_WAKING ? switched(s, e, &b->is) : woken(s, e, &b->is);
}

/* NULL: no memory. */
static struct host *host_of(struct hodo_runs *s, uint32_t number)
{
	struct host *h;

	while (s->nhosts <= number)
		if (!hodo_vec_add(s->host, s->nhosts))
			return NULL;
	h = s->host[number];
	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->ops = s->ops;
	h->data = s->data;
	h->bindings = (struct hodo_map)HODO_MAP(struct binding, address);
	h->threads = (struct hodo_map)HODO_MAP(struct thread, tid);
	s->host[number] = h;
	return h;
}

int hodo_runs_event(struct hodo_runs *s, const struct hodo_read_event *e)
{
	struct host *h;

	if (!e->process->kernel)
		return 0;
	h = host_of(s, e->process->host);
	return h ? host_event(h, e) : -ENOMEM;
}

void hodo_runs_end(struct hodo_runs *s, int64_t ts_ns)
{
	for (uint32_t k = 0; k < s->nhosts; k++)
		for (uint32_t i = 0; s->host[k] && i < s->host[k]->ncpus; i++)
			end_run(s->host[k], &s->host[k]->cpus[i], ts_ns, HODO_SCHED_UNKNOWN);
}

uint64_t hodo_runs_forgotten(const struct hodo_runs *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nhosts; i++)
		n += s->host[i] ? s->host[i]->forgotten : 0;
	return n;
}

bool hodo_runs_sum(struct hodo_runs *s, const struct hodo_read_event *e, struct hodo_runs_sum *sum)
{
	struct host *h = e->process->host < s->nhosts ? s->host[e->process->host] : NULL;
	struct thread *t;

	/* In another pid namespace, its threads have other tids than in the kernel's trace. */
	if (e->process->nested || !h || !h->kernel)
		return false;
	t = hodo_map_find_u64(&h->threads, e->tid);
	if (!t || t->sum.since_ns == INT64_MAX)
		return false;
	/* It runs now. */
	if (t->where == OFF)
		t->sum.since_ns = e->ts_ns;
	t->where = ON;
	*sum = t->sum;
	sum->kernel = h->kernel;
	return true;
}

const char *hodo_sched_why_text(uint32_t why)
{
	static const char *const texts[] = {
		[HODO_SCHED_PREEMPTED] = "preempted", [HODO_SCHED_SLEEPS] = "sleeps",
		[HODO_SCHED_BLOCKED] = "blocked",     [HODO_SCHED_STOPPED] = "stopped",
		[HODO_SCHED_ENDED] = "ended",         [HODO_SCHED_WAITS] = "waits",
		[HODO_SCHED_UNKNOWN] = "unknown",
	};

	return texts[why <= HODO_SCHED_UNKNOWN ? why : HODO_SCHED_UNKNOWN];
}

struct hodo_runs *hodo_runs_new(const struct hodo_runs_ops *ops, void *data)
{
	struct hodo_runs *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (ops)
		s->ops = *ops;
	s->data = data;
	return s;
}

void hodo_runs_rewind(struct hodo_runs *s)
{
	for (uint32_t i = 0; i < s->nhosts; i++) {
		struct host *h = s->host[i];

		if (!h)
			continue;
		hodo_map_clear(&h->threads);
		h->kernel = NULL;
		memset(h->cpus, 0, h->ncpus * sizeof(*h->cpus));
	}
}

void hodo_runs_free(struct hodo_runs *s)
{
	for (uint32_t i = 0; s && i < s->nhosts; i++) {
		if (!s->host[i])
			continue;
		hodo_map_free(&s->host[i]->bindings);
		hodo_map_free(&s->host[i]->threads);
		free(s->host[i]->cpus);
		free(s->host[i]);
	}
	if (s)
		free(s->host);
	free(s);
}
