/* SPDX-License-Identifier: MIT */
/*
 * timeline_calls.c - calls of functions as slices. Calls that are known at their end only are kept until the outermost
 * has come, or many are there.
 */
#define _GNU_SOURCE
#include "timeline_impl.h"

#include <errno.h>

#define COMPLETE_MAX (1u << 16) /* of a thread */

static struct timeline_thread *thread_of(struct hodo_timeline *s, const struct hodo_read_call *call)
{
	struct timeline_process *p = timeline_process(s, call->process);

	return p ? timeline_thread(s, p, call->process->pid, call->tid, call->comm) : NULL;
}

static struct timeline_node *push_call(struct hodo_timeline *s, struct timeline_thread *t, uint64_t function,
				       int64_t begin_ns)
{
	struct timeline_node *node = timeline_push(s, t, NULL, HODO_SLICE_CALL, NULL, begin_ns);

	if (!node)
		return NULL;
	hodo_symbols_find(s->symbols, t->process->pub, begin_ns, function, &node->place);
	node->slice.place = &node->place;
	node->slice.name = node->place.name;
	return node;
}

/* The calls of a thread that are visited. */
struct visit {
	struct hodo_timeline *s;
	struct timeline_thread *t;
	int64_t before_ns; /* no slice begins before it */
};

/* Begins it, within what it is inside of and behind what came before it there. */
static bool enter_complete(void *data, struct hodo_read_call *call, const struct hodo_read_call *around,
			   int64_t first_ns)
{
	struct visit *v = data;
	struct timeline_thread *t = v->t;
	const struct hodo_slice *outer = around && t->nstack > 0 ? &t->stack[t->nstack - 1]->slice : NULL;
	int64_t begin_ns = call->entry_ns > v->before_ns ? call->entry_ns : v->before_ns, end_ns = call->end_ns;
	struct timeline_node *node;

	(void)first_ns;
	if (v->s->error)
		return false;
	if (outer && end_ns > outer->end_ns)
		end_ns = outer->end_ns;
	if (begin_ns > end_ns)
		begin_ns = end_ns > v->before_ns ? end_ns : v->before_ns;
	node = push_call(v->s, t, call->function, begin_ns);
	if (!node)
		return false;
	node->slice.end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	node->slice.flags = call->flags & HODO_READ_CALL_LEFT ? HODO_SLICE_LEFT : 0;
	timeline_begin(v->s, node, NULL);
	v->before_ns = begin_ns;
	return true;
}

static void leave_complete(void *data, const struct hodo_read_call *call, const struct hodo_read_call *around,
			   uint32_t index)
{
	struct visit *v = data;
	struct timeline_node *top = v->t->stack[v->t->nstack - 1];

	(void)call, (void)around, (void)index;
	v->before_ns = top->slice.end_ns;
	timeline_pop(v->s, v->t, top, v->before_ns, 0, NULL);
}

void timeline_complete_calls(struct hodo_timeline *s, struct timeline_thread *t)
{
	static const struct hodo_complete_ops ops = { enter_complete, leave_complete };
	struct visit v = { s, t, INT64_MIN };

	hodo_complete_calls_visit(&t->complete, t->process->lossy, &ops, &v);
}

static void enter(void *data, struct hodo_read_call *call)
{
	struct hodo_timeline *s = data;
	struct timeline_thread *t;
	struct timeline_node *node;

	call->user = 0;
	if (s->error || (call->flags & HODO_READ_CALL_WHOLE))
		return;
	t = thread_of(s, call);
	node = t ? push_call(s, t, call->function, call->entry_ns) : NULL;
	if (!node)
		return;
	node->slice.cls = s->event ? s->event->cls : NULL;
	call->user = (uint64_t)(uintptr_t)node;
	t->latest_ns = call->entry_ns;
	timeline_begin(s, node, s->event);
	if (call->flags & HODO_READ_CALL_NO_EXIT) {
		call->user = 0;
		timeline_pop(s, t, node, call->entry_ns, HODO_SLICE_NO_EXIT, NULL);
	}
}

static void leave(void *data, const struct hodo_read_call *call)
{
	struct hodo_timeline *s = data;
	struct timeline_thread *t;
	struct timeline_node *node = (struct timeline_node *)(uintptr_t)call->user;
	uint32_t flags = (call->flags & HODO_READ_CALL_LEFT ? HODO_SLICE_LEFT : 0) |
			 (call->flags & HODO_READ_CALL_OPEN ? HODO_SLICE_OPEN : 0);

	if (s->error)
		return;
	if (node && node->closed) {
		timeline_node_free(s, node);
	} else if (node) {
		t = (struct timeline_thread *)node->slice.track; /* its first member */
		/* That a call was left is known later than it was. */
		timeline_pop(s, t, node, call->end_ns > t->latest_ns ? call->end_ns : t->latest_ns, flags,
			  flags & HODO_SLICE_OPEN ? NULL : s->event);
		t->latest_ns = call->end_ns > t->latest_ns ? call->end_ns : t->latest_ns;
	} else if (call->flags & HODO_READ_CALL_WHOLE) {
		t = thread_of(s, call);
		if (t && !hodo_complete_calls_keep(&t->complete, call))
			timeline_fail(s, -ENOMEM);
		else if (t && (call->depth == 0 || t->complete.n == COMPLETE_MAX))
			timeline_complete_calls(s, t);
	}
}

static bool is_same(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b)
{
	struct hodo_timeline *s = data;

	return hodo_function_same(s->symbols, process, ts_ns, a, b);
}

int timeline_calls_open(struct hodo_timeline *s)
{
	const struct hodo_read_calls_ops ops = { .size = sizeof(ops), .enter = enter, .leave = leave, .same = is_same };

	s->calls = hodo_read_calls_new(&ops, s);
	return s->calls ? 0 : -ENOMEM;
}
