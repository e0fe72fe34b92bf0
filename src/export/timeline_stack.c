/* SPDX-License-Identifier: MIT */
/* timeline_stack.c - slices that nest on a thread's track. */
#define _GNU_SOURCE
#include "timeline_impl.h"

#include <base/vec.h>
#include <errno.h>

struct timeline_node *timeline_node(struct hodo_timeline *s)
{
	struct timeline_node *node = s->free;

	if (node)
		s->free = node->next;
	else
		node = timeline_alloc(s, sizeof(*node));
	if (node)
		*node = (struct timeline_node){ .pair = TIMELINE_NO_PAIR };
	return node;
}

void timeline_node_free(struct hodo_timeline *s, struct timeline_node *node)
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
		hodo_pairs_remove(s->pairs, node->pair);
	timeline_node_free(s, node);
}

static void put(struct timeline_thread *t, struct timeline_node *node)
{
	node->level = t->nstack;
	node->slice.depth = t->nstack;
	node->slice.parent = t->nstack ? &t->stack[t->nstack - 1]->slice : NULL;
	t->stack[t->nstack++] = node;
}

struct timeline_node *timeline_push(struct hodo_timeline *s, struct timeline_thread *t, struct timeline_node *node,
				    enum hodo_slice_kind kind, const char *name, int64_t begin_ns)
{
	if (t->nstack >= HODO_TIMELINE_DEPTH_MAX)
		return NULL;
	if (hodo_vec_reserve(t->stack, t->room, t->nstack + 1) < 0) {
		timeline_fail(s, -ENOMEM);
		return NULL;
	}
	if (!node)
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
static void leave_behind(struct hodo_timeline *s, struct timeline_node *node, int64_t end_ns)
{
	set_end(node, end_ns, HODO_SLICE_LEFT);
	if (node->slice.kind != HODO_SLICE_CALL) {
		timeline_end(s, node, NULL);
		return;
	}
	report_end(s, node, NULL);
	node->closed = true;
}

/* Ends what is above a level; what goes on stays in its place there, other places get NULL. */
static void split(struct hodo_timeline *s, struct timeline_thread *t, uint32_t level, int64_t end_ns)
{
	for (uint32_t i = t->nstack; i-- > level + 1;) {
		struct timeline_node *top = t->stack[i];

		/* The end of a call comes in any case; that of a span may be lost, and then never comes. */
		if ((t->process->lossy && top->slice.kind != HODO_SLICE_CALL) ||
		    top->splits == HODO_TIMELINE_SPLITS_MAX) {
			leave_behind(s, top, end_ns);
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
