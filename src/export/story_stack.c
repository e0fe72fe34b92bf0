/* SPDX-License-Identifier: MIT */
/* story_stack.c - slices that nest on a thread's track. */
#define _GNU_SOURCE
#include "story_impl.h"

#include <errno.h>
#include <stdlib.h>

struct story_node *story_node(struct hodo_story *s)
{
	struct story_node *node = s->free;

	if (node)
		s->free = node->next;
	else
		node = malloc(sizeof(*node));
	if (!node) {
		story_fail(s, -ENOMEM);
		return NULL;
	}
	*node = (struct story_node){ 0 };
	return node;
}

void story_begin(struct hodo_story *s, struct story_node *node, const struct hodo_read_event *event)
{
	if (!(node->slice.flags & HODO_SLICE_CONTINUED))
		s->totals.slices++;
	if (!s->error && s->ops.begin)
		story_fail(s, s->ops.begin(s->data, &node->slice, event));
}

static void tell_end(struct hodo_story *s, struct story_node *node, const struct hodo_read_event *event)
{
	struct hodo_slice *slice = &node->slice;
	uint64_t ns = (uint64_t)(slice->end_ns - slice->begin_ns);

	slice->self_ns = node->inside_ns < ns ? ns - node->inside_ns : 0;
	if (slice->parent)
		((struct story_node *)slice->parent)->inside_ns += ns;
	if (!s->error && s->ops.end)
		story_fail(s, s->ops.end(s->data, slice, event));
}

void story_end(struct hodo_story *s, struct story_node *node, const struct hodo_read_event *event)
{
	tell_end(s, node, event);
	if (node->listed)
		story_open_take_out(s, node);
	node->next = s->free;
	s->free = node;
}

static bool grow(struct story_thread *t)
{
	uint32_t room = t->room ? t->room * 2 : 16;
	struct story_node **more = realloc(t->stack, room * sizeof(*more));

	if (!more)
		return false;
	t->stack = more;
	t->room = room;
	return true;
}

static void put(struct story_thread *t, struct story_node *node)
{
	node->level = t->nstack;
	node->slice.depth = t->nstack;
	node->slice.parent = t->nstack ? &t->stack[t->nstack - 1]->slice : NULL;
	t->stack[t->nstack++] = node;
}

struct story_node *story_push(struct hodo_story *s, struct story_thread *t, enum hodo_slice_kind kind, const char *name,
			      int64_t begin_ns)
{
	struct story_node *node;

	if (t->nstack >= HODO_STORY_DEPTH_MAX)
		return NULL;
	if (t->nstack == t->room && !grow(t)) {
		story_fail(s, -ENOMEM);
		return NULL;
	}
	node = story_node(s);
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

static void set_end(struct story_node *node, int64_t end_ns, uint32_t flags)
{
	node->slice.end_ns = end_ns > node->slice.begin_ns ? end_ns : node->slice.begin_ns;
	node->slice.flags |= flags;
}

/* Ends one that does not begin again. A call's end is still to come, and finds it gone. */
static void leave_behind(struct hodo_story *s, struct story_node *node, int64_t end_ns)
{
	set_end(node, end_ns, HODO_SLICE_LEFT);
	if (node->slice.kind != HODO_SLICE_CALL) {
		story_end(s, node, NULL);
		return;
	}
	tell_end(s, node, NULL);
	node->gone = true;
	node->prev = NULL;
	node->next = s->gone;
	if (s->gone)
		s->gone->prev = node;
	s->gone = node;
}

void story_forget(struct hodo_story *s, struct story_node *node)
{
	*(node->prev ? &node->prev->next : &s->gone) = node->next;
	if (node->next)
		node->next->prev = node->prev;
	node->next = s->free;
	s->free = node;
}

/* Ends what is above a level; what goes on stays in its place there, other places get NULL. */
static void split(struct hodo_story *s, struct story_thread *t, uint32_t level, int64_t end_ns)
{
	for (uint32_t i = t->nstack; i-- > level + 1;) {
		struct story_node *top = t->stack[i];

		/* The end of a call is told in any case; that of a span may be lost, and then never comes. */
		if ((t->process->lossy && top->slice.kind != HODO_SLICE_CALL) || top->splits == HODO_STORY_SPLITS_MAX) {
			leave_behind(s, top, end_ns);
			t->stack[i] = NULL;
		} else {
			set_end(top, end_ns, HODO_SLICE_SPLIT);
			tell_end(s, top, NULL);
			top->splits++;
			top->slice.earlier_ns += (uint64_t)(top->slice.end_ns - top->slice.begin_ns);
			top->slice.earlier_self_ns += top->slice.self_ns;
		}
	}
}

void story_pop(struct hodo_story *s, struct story_thread *t, struct story_node *node, int64_t end_ns, uint32_t flags,
	       const struct hodo_read_event *event)
{
	uint32_t level = node->level, n = t->nstack;

	split(s, t, level, end_ns);
	set_end(node, end_ns, flags);
	story_end(s, node, event);
	t->nstack = level;
	for (uint32_t i = level + 1; i < n; i++) {
		struct story_node *again = t->stack[i];

		if (!again)
			continue;
		again->slice.begin_ns = again->slice.end_ns;
		again->slice.flags = HODO_SLICE_CONTINUED;
		again->slice.user = NULL;
		again->inside_ns = 0;
		put(t, again);
		story_begin(s, again, NULL);
	}
}

void story_close(struct hodo_story *s, struct story_thread *t)
{
	while (t->nstack > 0) {
		struct story_node *top = t->stack[t->nstack - 1];

		story_pop(s, t, top, s->now_ns, HODO_SLICE_OPEN, NULL);
	}
}
