/* SPDX-License-Identifier: MIT */
/*
 * timeline_slices.c - slices: those that nest on a thread's track, spans and system calls, whose ends the reader finds
 * (read/event/pairs.h), and calls of functions.
 */
#include "timeline_impl.h"

#include <base/vec.h>
#include <errno.h>

struct timeline_node *timeline_node(struct hodo_timeline *s)
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

void timeline_begin(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event)
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

void timeline_end(struct hodo_timeline *s, struct timeline_node *node, const struct hodo_read_event *event)
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
	       hodo_losses_between(t->process->pub, HODO_LOSSES_ANY_CPU, node->slice.begin_ns, s->now_ns);
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

void timeline_pop(struct hodo_timeline *s, struct timeline_thread *t, struct timeline_node *node, int64_t end_ns,
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
void timeline_give_up(void *timeline, uintptr_t user, int64_t ts_ns, bool given_up)
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

void timeline_span_begin(struct hodo_timeline *s, struct timeline_thread *t)
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

void timeline_span_end(struct hodo_timeline *s, struct timeline_thread *t)
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

static struct timeline_thread *thread_of(struct hodo_timeline *s, const struct hodo_read_call *call)
{
	struct timeline_process *p = timeline_process(s, call->process);

	return p ? timeline_thread(s, p, call->process->pid, call->tid, call->comm) : NULL;
}

static struct timeline_node *push_call(struct hodo_timeline *s, struct timeline_thread *t, uint64_t function,
				       int64_t begin_ns)
{
	struct timeline_node *node = push(s, t, HODO_SLICE_CALL, NULL, begin_ns);

	if (!node)
		return NULL;
	node->slice.function = function;
	if (s->places.find) {
		s->places.find(s->places.data, t->process->pub, begin_ns, function, &node->place);
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
	t = s->error ? NULL : thread_of(s, call);
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

int timeline_calls_open(struct hodo_timeline *s)
{
	const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = enter, .leave = leave, .away = away,
						 .same = s->places.same ? is_same : NULL };

	s->calls = hodo_read_calls_new(&ops, s);
	if (!s->calls)
		return -ENOMEM;
	hodo_calls_late(s->calls, keeps, false);
	return 0;
}
