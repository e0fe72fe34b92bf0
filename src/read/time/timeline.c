/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - see timeline.h: tracks, which are made when they are first met; slices, which nest on a thread's track,
 * and whose ends the reader finds (read/event/pairs.h); and each event's role.
 */
#include "timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/map.h>
#include <base/vec.h>
#include <read/event/fields.h>
#include <read/event/losses.h>
#include <read/event/pairs.h>
#include <read/event/runs.h>
#include <read/event/threads.h>

#include "late_calls.h"

#define CPUS_MAX 65536

/* An open slice. */
struct timeline_node {
	struct hodo_slice slice; /* first */
	struct hodo_place place;
	uint64_t inside_ns; /* of the slices inside of it */
	uint32_t level;     /* its index on its thread's stack */
	uint32_t splits;    /* how often it was split */
	uint32_t pair;      /* its number among start events that wait for their ends; TIMELINE_NO_PAIR: none */
	bool closed;        /* a call, whose slice ends before it does */
	struct timeline_node *next; /* free ones */
};
#define TIMELINE_NO_PAIR UINT32_MAX

struct timeline_thread {
	struct hodo_track track; /* first */
	struct timeline_node **stack;
	uint32_t nstack, room;
	int64_t latest_ns; /* the latest reported time */
	int64_t late_ns;   /* no late call's slice begins before it */
};

/* What a thread is found by. */
struct timeline_thread_key {
	const struct hodo_read_process *process;
	uint64_t tid; /* UINT64_MAX: those beyond HODO_TIMELINE_TRACKS_MAX */
};

struct hodo_timeline {
	struct hodo_read *reader;
	struct hodo_places places;
	struct hodo_timeline_ops ops;
	void *data;
	struct hodo_read_calls *calls;
	struct hodo_runs *runs;
	struct hodo_timeline_totals totals;
	const struct hodo_read_event *event; /* at hand */
	int64_t now_ns, since_ns, until_ns;
	int error; /* what an op returned, or a negative errno */
	struct hodo_arena memory; /* of nodes and names */
	struct hodo_map threads; /* struct timeline_thread */
	struct hodo_map tracks;  /* struct hodo_track by its kind, and its host and CPU or the address of its name */
	struct timeline_thread *recent;
	uint32_t ntracks;
	uint64_t nasync;
	struct timeline_node *free;
};

/* ------------------------------------------------------------------- tracks */

static void timeline_fail(struct hodo_timeline *s, int error)
{
	if (!s->error)
		s->error = error;
}

/* Gives the track its name, a copy, and reports it. */
static void add_track(struct hodo_timeline *s, struct hodo_track *track, const char *name)
{
	track->name = hodo_arena_copy(&s->memory, name, strlen(name));
	if (!track->name)
		timeline_fail(s, -ENOMEM);
	track->id = s->ntracks++;
	if (!s->error && s->ops.track)
		timeline_fail(s, s->ops.track(s->data, track));
}

/* NULL: error is set; so it is for all of these. */
static struct timeline_thread *timeline_thread(struct hodo_timeline *s, const struct hodo_read_process *p, uint32_t pid,
					       uint32_t tid, const char *comm)
{
	struct timeline_thread_key key = { p, tid };
	const struct hodo_read_thread *known;
	struct timeline_thread *t = s->recent;

	if (t && t->track.tid == tid && t->track.process == p)
		return t;
	t = hodo_map_kept(&s->threads, hodo_map_find(&s->threads, &key));
	if (!t && s->ntracks >= HODO_TIMELINE_TRACKS_MAX) {
		key.tid = UINT64_MAX;
		tid = 0;
		comm = "other threads";
	}
	if (!t)
		t = hodo_map_keep(&s->threads, &key, sizeof(*t));
	if (!t)
		timeline_fail(s, -ENOMEM);
	if (t && !t->track.process) {
		t->late_ns = INT64_MIN;
		t->track = (struct hodo_track){ .kind = HODO_TRACK_THREAD, .process = p, .pid = pid, .tid = tid };
		known = tid ? hodo_read_thread(p, tid) : NULL;
		add_track(s, &t->track, known && known->comm && known->comm[0] ? known->comm : comm);
	}
	if (key.tid == tid)
		s->recent = t;
	return t;
}

/* NULL: error is set. Without a name: it is new. */
static struct hodo_track *find_track(struct hodo_timeline *s, enum hodo_track_kind kind, uint64_t of)
{
	struct hodo_track *track = hodo_map_keep_u64(&s->tracks, of << 2 | kind, sizeof(*track));

	if (!track)
		timeline_fail(s, -ENOMEM);
	return track;
}

/* The track of a counter or of id-paired spans. */
static struct hodo_track *timeline_track(struct hodo_timeline *s, enum hodo_track_kind kind,
					 const struct hodo_read_process *process, const char *name)
{
	struct hodo_track *track = find_track(s, kind, (uintptr_t)name);

	if (!track || track->name)
		return track;
	*track = (struct hodo_track){ .kind = kind, .process = process, .pid = process->pid };
	add_track(s, track, name);
	return track;
}

static struct hodo_track *timeline_cpu(struct hodo_timeline *s, const struct hodo_read_process *kernel, int32_t cpu)
{
	struct hodo_track *track = find_track(s, HODO_TRACK_CPU, (uint64_t)kernel->host << 32 | (uint32_t)cpu);
	const char *host = hodo_read_nhosts(s->reader) > 1 && kernel->hostname ? kernel->hostname : "";
	char text[128];

	if (!track || track->name)
		return track;
	snprintf(text, sizeof(text), "%.80s%sCPU %d", host, *host ? " " : "", (int)cpu);
	*track = (struct hodo_track){ .kind = HODO_TRACK_CPU, .cpu = cpu, .kernel = kernel };
	add_track(s, track, text);
	return track;
}

/* The event at hand. */
static void timeline_instant(struct hodo_timeline *s, struct timeline_thread *t, bool unpaired)
{
	s->totals.unpaired += unpaired;
	s->totals.instants++;
	if (s->ops.instant)
		timeline_fail(s, s->ops.instant(s->data, &t->track, s->event, t->nstack));
}

/* ------------------------------------------------------------------- slices */

/* NULL: error is set. */
static struct timeline_node *timeline_node(struct hodo_timeline *s)
{
	struct timeline_node *node = s->free;

	if (node)
		s->free = node->next;
	else
		node = hodo_arena_alloc(&s->memory, sizeof(*node));
	if (node)
		*node = (struct timeline_node){ .pair = TIMELINE_NO_PAIR };
	else
		timeline_fail(s, -ENOMEM);
	return node;
}

static void node_free(struct hodo_timeline *s, struct timeline_node *node)
{
	node->next = s->free;
	s->free = node;
}

static void timeline_begin(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event)
{
	if (!(node->slice.flags & HODO_SLICE_CONTINUED))
		s->totals.slices++;
	if (!s->error && s->ops.begin)
		timeline_fail(s, s->ops.begin(s->data, &node->slice, event));
}

static void report_end(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event)
{
	struct hodo_slice *slice = &node->slice;
	uint64_t ns = (uint64_t)(slice->end_ns - slice->begin_ns);

	slice->self_ns = node->inside_ns < ns ? ns - node->inside_ns : 0;
	if (slice->parent)
		((struct timeline_node *)slice->parent)->inside_ns += ns;
	if (!s->error && s->ops.end)
		timeline_fail(s, s->ops.end(s->data, slice, event));
}

/* Frees it, unless it is closed and its call's end is yet to come. */
static void timeline_end(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event)
{
	report_end(s, node, event);
	if (node->pair != TIMELINE_NO_PAIR)
		hodo_read_pair_remove(s->reader, node->pair);
	if (!node->closed)
		node_free(s, node);
}

static void put(struct timeline_thread *t, struct timeline_node *node)
{
	node->level = t->nstack;
	node->slice.depth = t->nstack;
	node->slice.parent = t->nstack ? &t->stack[t->nstack - 1]->slice : NULL;
	t->stack[t->nstack++] = node;
}

/* NULL: too deep, or error is set. timeline_begin() reports it. */
static struct timeline_node *push(struct hodo_timeline *s, struct timeline_thread *t, enum hodo_slice_kind kind,
				  const char *name, int64_t begin_ns)
{
	struct timeline_node *node;

	if (t->nstack >= HODO_TIMELINE_DEPTH_MAX)
		return NULL;
	if (hodo_vec_reserve(t->stack, t->room, t->nstack + 1) < 0) {
		timeline_fail(s, -ENOMEM);
		return NULL;
	}
	node = timeline_node(s);
	if (!node)
		return NULL;
	node->slice.track = &t->track;
	node->slice.kind = kind;
	node->slice.name = name;
	node->slice.begin_ns = begin_ns;
	node->slice.pid = t->track.pid;
	put(t, node);
	return node;
}

static void set_end(struct timeline_node *node, int64_t end_ns, uint32_t flags)
{
	node->slice.end_ns = end_ns > node->slice.begin_ns ? end_ns : node->slice.begin_ns;
	node->slice.flags |= flags;
}

/* Ends one that does not begin again. A call's end is still to come, and finds it closed. */
static void leave_behind(struct hodo_timeline *s, struct timeline_node *node, int64_t end_ns, uint32_t flags)
{
	set_end(node, end_ns, flags);
	if (node->slice.kind != HODO_SLICE_CALL) {
		timeline_end(s, node, NULL);
		return;
	}
	report_end(s, node, NULL);
	node->closed = true;
}

/* Whether the end of a span may be among lost events. For a call, its end tells, which always comes. */
static bool may_have_ended(const struct hodo_timeline *s, const struct timeline_node *node)
{
	const struct timeline_thread *t = (const struct timeline_thread *)(const void *)node->slice.track;

	return node->slice.kind == HODO_SLICE_SPAN &&
	       hodo_losses_between(t->track.process, HODO_LOSSES_ANY_CPU, node->slice.begin_ns, s->now_ns);
}

/* Ends everything above a level; slices that continue keep their places, other places get NULL. */
static void split(struct hodo_timeline *s, struct timeline_thread *t, uint32_t level, int64_t end_ns)
{
	for (uint32_t i = t->nstack; i-- > level + 1;) {
		struct timeline_node *top = t->stack[i];

		bool lost = may_have_ended(s, top);

		if (lost || top->splits == HODO_TIMELINE_SPLITS_MAX) {
			leave_behind(s, top, end_ns, lost ? HODO_SLICE_END_LOST : HODO_SLICE_LEFT);
			t->stack[i] = NULL;
		} else {
			set_end(top, end_ns, HODO_SLICE_SPLIT);
			report_end(s, top, NULL);
			top->splits++;
			top->slice.earlier_ns += (uint64_t)(top->slice.end_ns - top->slice.begin_ns);
			top->slice.earlier_self_ns += top->slice.self_ns;
		}
	}
}

static void timeline_pop(struct hodo_timeline *s, struct timeline_thread *t, struct timeline_node *node, int64_t end_ns,
			 uint32_t flags, const struct hodo_read_event *event)
{
	uint32_t level = node->level, n = t->nstack;

	split(s, t, level, end_ns);
	set_end(node, end_ns, flags);
	timeline_end(s, node, event);
	t->nstack = level;
	for (uint32_t i = level + 1; i < n; i++) {
		struct timeline_node *again = t->stack[i];

		if (!again)
			continue;
		again->slice.begin_ns = again->slice.end_ns;
		again->slice.flags = HODO_SLICE_CONTINUED;
		again->slice.user = NULL;
		again->inside_ns = 0;
		put(t, again);
		timeline_begin(s, again, NULL);
	}
}

/* ----------------------------------------------------------------------------- spans */

static bool is_async(const struct hodo_read_event *e)
{
	return e->cls->role == HODO_READ_ROLE_BEGIN || e->cls->role == HODO_READ_ROLE_END;
}

/* Ends a slice whose end will not come. */
static void timeline_give_up(void *timeline, uintptr_t user, int64_t ts_ns, bool given_up)
{
	struct timeline_node *node = (struct timeline_node *)user;
	struct hodo_timeline *s = timeline;

	(void)given_up;
	s->now_ns = ts_ns;
	node->pair = TIMELINE_NO_PAIR;
	if (node->slice.kind == HODO_SLICE_SPAN) {
		timeline_pop(s, (struct timeline_thread *)node->slice.track, node, s->now_ns,
			     may_have_ended(s, node) ? HODO_SLICE_END_LOST : HODO_SLICE_LEFT, NULL);
		return;
	}
	node->slice.end_ns = s->now_ns;
	node->slice.flags |= HODO_SLICE_OPEN;
	timeline_end(s, node, NULL);
}

static void async_begin(struct hodo_timeline *s, struct timeline_thread *t)
{
	const struct hodo_read_event *e = s->event;
	struct hodo_track *track = timeline_track(s, HODO_TRACK_ASYNC, e->process, e->cls->base);
	struct timeline_node *node = track ? timeline_node(s) : NULL;

	if (!node)
		return;
	node->slice.track = track;
	node->slice.kind = HODO_SLICE_ASYNC;
	node->slice.name = e->cls->base;
	node->slice.cls = e->cls;
	node->slice.begin_ns = s->now_ns;
	node->slice.id = e->cls->nfields && e->values->type < HODO_TYPE_STR ? e->values->u : 0;
	node->slice.number = ++s->nasync;
	node->slice.began_on = &t->track;
	node->slice.pid = track->pid;
	node->pair = hodo_read_pair_put(s->reader, (uintptr_t)node);
	timeline_begin(s, node, e);
}

/* For the current event, which begins or ends a span, a system call or an id-paired span. */
static void timeline_span_begin(struct hodo_timeline *s, struct timeline_thread *t)
{
	struct timeline_node *node;

	if (is_async(s->event)) {
		async_begin(s, t);
		return;
	}
	if (t->nstack >= HODO_TIMELINE_DEPTH_MAX) {
		timeline_instant(s, t, false);
		return;
	}
	node = push(s, t, HODO_SLICE_SPAN, s->event->cls->base, s->now_ns);
	if (!node)
		return;
	node->pair = hodo_read_pair_put(s->reader, (uintptr_t)node);
	node->slice.cls = s->event->cls;
	t->latest_ns = s->now_ns;
	timeline_begin(s, node, s->event);
}

static void timeline_span_end(struct hodo_timeline *s, struct timeline_thread *t)
{
	const struct hodo_read_event *e = s->event;
	struct timeline_node *node;
	struct hodo_pair begin;

	if (!hodo_read_pair_of(s->reader, &begin) || !begin.user) {
		if (is_async(e))
			timeline_track(s, HODO_TRACK_ASYNC, e->process, e->cls->base);
		timeline_instant(s, t, true);
		return;
	}
	node = (struct timeline_node *)begin.user;
	node->pair = TIMELINE_NO_PAIR;
	if (is_async(e)) {
		node->slice.ended_on = &t->track;
		node->slice.end_ns = s->now_ns;
		timeline_end(s, node, e);
		return;
	}
	t->latest_ns = s->now_ns;
	timeline_pop(s, t, node, s->now_ns, 0, e);
}

/* ----------------------------------------------------------------------------- calls */

static struct timeline_node *push_call(struct hodo_timeline *s, struct timeline_thread *t, uint64_t function,
				       int64_t begin_ns)
{
	struct timeline_node *node = push(s, t, HODO_SLICE_CALL, NULL, begin_ns);

	if (!node)
		return NULL;
	node->slice.function = function;
	if (s->places.find) {
		s->places.find(s->places.data, t->track.process, begin_ns, function, &node->place);
		node->slice.place = &node->place;
		node->slice.name = node->place.name;
	}
	return node;
}

/* Its slice is over, and so is the call. */
static void call_over(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_call *call)
{
	if (!s->error && s->ops.call)
		timeline_fail(s, s->ops.call(s->data, &node->slice, call));
	node_free(s, node);
}

static enum hodo_late keeps(void *data, const struct hodo_late_call *call)
{
	(void)data, (void)call;
	return HODO_LATE_KEPT;
}

/* Begins a late call's, inside the outer call's and after earlier ones there. */
static void enter_late(struct hodo_timeline *s, struct timeline_thread *t, struct hodo_read_call *call)
{
	bool inside = hodo_late_call(call)->outer && t->nstack > 0;
	const struct hodo_slice *outer = inside ? &t->stack[t->nstack - 1]->slice : NULL;
	int64_t begin_ns = call->entry_ns > t->late_ns ? call->entry_ns : t->late_ns, end_ns = call->end_ns;
	struct timeline_node *node;

	if (outer && end_ns > outer->end_ns)
		end_ns = outer->end_ns;
	if (begin_ns > end_ns)
		begin_ns = end_ns > t->late_ns ? end_ns : t->late_ns;
	node = push_call(s, t, call->function, begin_ns);
	if (!node)
		return;
	call->user = (uint64_t)(uintptr_t)node;
	node->slice.end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	node->slice.flags = call->flags & HODO_READ_CALL_LEFT ? HODO_SLICE_LEFT : 0;
	timeline_begin(s, node, NULL);
	t->late_ns = begin_ns;
}

static void leave_late(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_call *call)
{
	struct timeline_thread *t = (struct timeline_thread *)node->slice.track; /* its first member */

	t->late_ns = node->slice.end_ns;
	node->closed = true;
	timeline_pop(s, t, node, node->slice.end_ns, 0, NULL);
	call_over(s, node, call);
	if (hodo_late_call(call)->last)
		t->late_ns = INT64_MIN;
}

static void enter(void *data, struct hodo_read_call *call)
{
	struct hodo_timeline *s = data;
	struct timeline_thread *t;
	struct timeline_node *node;

	call->user = 0;
	t = s->error ? NULL : timeline_thread(s, call->process, call->process->pid, call->tid, call->comm);
	if (t && (call->flags & HODO_READ_CALL_WHOLE)) {
		enter_late(s, t, call);
		return;
	}
	node = t ? push_call(s, t, call->function, call->entry_ns) : NULL;
	if (!node)
		return;
	node->slice.cls = s->event ? s->event->cls : NULL;
	call->user = (uint64_t)(uintptr_t)node;
	t->latest_ns = call->entry_ns;
	timeline_begin(s, node, s->event);
	if (call->flags & HODO_READ_CALL_NO_EXIT) {
		node->closed = true;
		timeline_pop(s, t, node, call->entry_ns, HODO_SLICE_NO_EXIT, NULL);
	}
}

static uint32_t end_flags(const struct hodo_read_call *call)
{
	return (call->flags & HODO_READ_CALL_LEFT ? HODO_SLICE_LEFT : 0) |
	       (call->flags & HODO_READ_CALL_OPEN ? HODO_SLICE_OPEN : 0) |
	       (call->flags & HODO_READ_CALL_EXIT_LOST ? HODO_SLICE_END_LOST : 0);
}

static void leave(void *data, const struct hodo_read_call *call)
{
	struct hodo_timeline *s = data;
	struct timeline_thread *t;
	struct timeline_node *node = (struct timeline_node *)(uintptr_t)call->user;
	uint32_t flags = end_flags(call);

	if (s->error || !node)
		return;
	if (node->closed) {
		call_over(s, node, call);
	} else if (call->flags & HODO_READ_CALL_WHOLE) {
		leave_late(s, node, call);
	} else {
		node->closed = true;
		t = (struct timeline_thread *)node->slice.track; /* its first member */
		/* It becomes known later that a call was left. */
		timeline_pop(s, t, node, call->end_ns > t->latest_ns ? call->end_ns : t->latest_ns, flags,
			  flags & HODO_SLICE_OPEN ? NULL : s->event);
		t->latest_ns = call->end_ns > t->latest_ns ? call->end_ns : t->latest_ns;
		call_over(s, node, call);
	}
}

/*
 * A call that seems to be over ends now: nothing further is inside it. Its leave comes later, and finds it
 * closed.
 */
static void away(void *data, const struct hodo_read_call *call)
{
	struct timeline_node *node = (struct timeline_node *)(uintptr_t)call->user;
	struct hodo_timeline *s = data;

	if (s->error || !node || node->closed || !call->flags)
		return;
	node->closed = true;
	timeline_pop(s, (struct timeline_thread *)node->slice.track, node, call->end_ns, end_flags(call), s->event);
}

static bool is_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct hodo_timeline *s = data;

	return s->places.same(s->places.data, process, ts_ns, a, b);
}

/* 0 or -ENOMEM. */
static int timeline_calls_open(struct hodo_timeline *s)
{
	const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = enter, .leave = leave, .away = away,
						 .same = s->places.same ? is_same : NULL };

	s->calls = hodo_read_calls_new(&ops, s);
	if (!s->calls)
		return -ENOMEM;
	hodo_calls_late(s->calls, keeps, false);
	return 0;
}

/* ------------------------------------------------------------------- events */

static void ran(void *data, const struct hodo_sched_ran *ran)
{
	struct hodo_timeline *s = data;
	bool shown = ran->tid != 0 && ran->cpu >= 0 && ran->cpu < CPUS_MAX && !s->error;
	struct hodo_track *track = shown ? timeline_cpu(s, ran->kernel, ran->cpu) : NULL;
	struct timeline_node *node = track ? timeline_node(s) : NULL;

	if (!node)
		return;
	node->slice.track = track;
	node->slice.kind = HODO_SLICE_RUNNING;
	node->slice.name = ran->comm;
	node->slice.begin_ns = ran->begin_ns;
	node->slice.end_ns = ran->end_ns;
	node->slice.id = ran->tid;
	node->slice.pid = ran->pid;
	node->slice.sched_why = ran->why;
	node->slice.sched_off = ran->off;
	timeline_begin(s, node, NULL);
	timeline_end(s, node, NULL);
}

static void counter(struct hodo_timeline *s)
{
	const struct hodo_read_event *e = s->event;
	bool wanted = s->ops.track || s->ops.counter;
	const struct hodo_track *track = wanted ? timeline_track(s, HODO_TRACK_COUNTER, e->process, e->cls->base)
						: NULL;

	s->totals.values++;
	if (!s->error && s->ops.counter)
		timeline_fail(s, s->ops.counter(s->data, track, e, hodo_value_number(&e->values[0])));
}

static void take(struct hodo_timeline *s, const struct hodo_read_event *e)
{
	struct timeline_thread *t = timeline_thread(s, e->process, e->pid, e->tid, e->comm);

	if (!t || s->error)
		return;
	switch (e->cls->role) {
	case HODO_READ_ROLE_SPAN_BEGIN:
	case HODO_READ_ROLE_SYSCALL_BEGIN:
	case HODO_READ_ROLE_BEGIN:
		timeline_span_begin(s, t);
		break;
	case HODO_READ_ROLE_SPAN_END:
	case HODO_READ_ROLE_SYSCALL_END:
	case HODO_READ_ROLE_END:
		timeline_span_end(s, t);
		break;
	case HODO_READ_ROLE_COUNTER:
		counter(s);
		break;
	case HODO_READ_ROLE_CALL_ENTRY:
	case HODO_READ_ROLE_CALL_EXIT:
	case HODO_READ_ROLE_CALL:
		timeline_fail(s, hodo_read_calls_event(s->calls, e));
		break;
	default:
		timeline_instant(s, t, false);
	}
	if (e->process->kernel && !s->ops.no_cpus && !s->error)
		timeline_fail(s, hodo_runs_event(s->runs, e));
}

static void close_thread(struct hodo_timeline *s, struct timeline_thread *t)
{
	while (t->nstack > 0 && !s->error)
		timeline_pop(s, t, t->stack[t->nstack - 1], s->now_ns, HODO_SLICE_OPEN, NULL);
}

static void close_all(struct hodo_timeline *s)
{
	s->event = NULL;
	timeline_fail(s, hodo_read_calls_end(s->calls, s->now_ns));
	hodo_runs_end(s->runs, s->now_ns);
	for (uint32_t i = 0; i < s->threads.n && !s->error; i++)
		close_thread(s, hodo_map_kept_at(&s->threads, i));
	hodo_read_pairs_end(s->reader, s->now_ns); /* id-paired ones, as OPEN */
}

static int found_loss(void *data, const struct hodo_read_loss *loss)
{
	struct hodo_timeline *s = data;

	if (s->until_ns != 0 && (loss->until_ns < s->since_ns || loss->from_ns >= s->until_ns))
		return 0;
	return s->ops.loss(s->data, loss);
}

int hodo_timeline_start(struct hodo_timeline *s, int64_t since_ns, int64_t until_ns)
{
	s->since_ns = since_ns;
	s->until_ns = until_ns;
	return s->ops.loss ? hodo_read_losses(s->reader, found_loss, s) : 0;
}

int hodo_timeline_more(struct hodo_timeline *s)
{
	const struct hodo_read_event *e;
	int n = s->error ? s->error : hodo_read_next(s->reader, &e);

	if (n <= 0)
		return n;
	s->event = e;
	s->now_ns = e->ts_ns;
	if (s->totals.events++ == 0)
		s->totals.begin_ns = e->ts_ns;
	s->totals.end_ns = e->ts_ns;
	if (s->ops.event)
		timeline_fail(s, s->ops.event(s->data, e));
	if (!s->error)
		take(s, e);
	return s->error ? s->error : 1;
}

int hodo_timeline_next(struct hodo_timeline *s)
{
	int n = hodo_timeline_more(s);

	if (n == 0) {
		close_all(s);
		return s->error;
	}
	return n;
}

int hodo_timeline_read(struct hodo_timeline *s, int64_t since_ns, int64_t until_ns)
{
	int n = hodo_timeline_start(s, since_ns, until_ns);

	if (n != 0)
		return n;
	do {
		n = hodo_timeline_next(s);
	} while (n > 0 && !s->error);
	return s->error ? s->error : n;
}

void hodo_timeline_totals(const struct hodo_timeline *s, struct hodo_timeline_totals *totals)
{
	*totals = s->totals;
}

/* ------------------------------------------------------------------- begin and end */

struct hodo_timeline *hodo_timeline_new(struct hodo_read *reader, struct hodo_places places,
					const struct hodo_timeline_ops *ops, void *data)
{
	const struct hodo_runs_ops runs_ops = { .ran = ran };
	struct hodo_timeline *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct hodo_timeline){
		.reader = reader,
		.places = places,
		.ops = *ops,
		.data = data,
		.threads = HODO_MAP_KEPT(struct timeline_thread_key),
		.tracks = HODO_MAP_KEPT(uint64_t),
	};
	s->runs = hodo_runs_new(&runs_ops, s);
	if (!s->runs || timeline_calls_open(s) < 0 || hodo_read_pairs(reader, timeline_give_up, s) < 0) {
		hodo_timeline_free(s);
		return NULL;
	}
	return s;
}

void hodo_timeline_free(struct hodo_timeline *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->threads.n; i++)
		free(((struct timeline_thread *)hodo_map_kept_at(&s->threads, i))->stack);
	hodo_map_free(&s->threads);
	hodo_map_free(&s->tracks);
	hodo_read_pairs(s->reader, NULL, s);
	hodo_arena_free(&s->memory);
	hodo_read_calls_free(s->calls);
	hodo_runs_free(s->runs);
	free(s);
}
