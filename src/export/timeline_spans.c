/* SPDX-License-Identifier: MIT */
/* timeline_spans.c - spans, system calls and id-paired spans, whose ends the reader finds (read/pairs.h). */
#define _GNU_SOURCE
#include "timeline_impl.h"

#include <errno.h>

static bool is_async(const struct hodo_read_event *e)
{
	return e->cls->role == HODO_READ_ROLE_BEGIN || e->cls->role == HODO_READ_ROLE_END;
}

/* Ends a slice whose end does not come. */
static void give_up(struct hodo_timeline *s, struct timeline_node *node)
{
	node->pair = TIMELINE_NO_PAIR;
	if (node->slice.kind == HODO_SLICE_SPAN) {
		timeline_pop(s, (struct timeline_thread *)node->slice.track, node, s->now_ns, HODO_SLICE_LEFT, NULL);
		return;
	}
	node->slice.end_ns = s->now_ns;
	node->slice.flags |= HODO_SLICE_OPEN;
	timeline_end(s, node, NULL);
}

/* The slice waits for its end from now on. False: error is set. */
static bool wait_for_end(struct hodo_timeline *s, struct timeline_node *node)
{
	const struct hodo_pair begin = { s->now_ns, hodo_pair_base(s->event), (uintptr_t)node };
	struct hodo_pair other;
	int paired;

	hodo_pair_key(&s->key, s->event);
	paired = hodo_pairs_begin(s->pairs, &s->key, &begin, &other);
	if (paired < 0) {
		timeline_fail(s, paired);
		timeline_node_free(s, node);
		return false;
	}
	node->pair = hodo_pairs_last(s->pairs);
	if (paired != HODO_PAIR_NONE)
		give_up(s, (struct timeline_node *)other.user);
	return true;
}

static void async_begin(struct hodo_timeline *s, struct timeline_thread *t)
{
	const struct hodo_read_event *e = s->event;
	struct hodo_track *track = timeline_track(s, HODO_TRACK_ASYNC, e->process, e->cls->base, 0);
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
	if (wait_for_end(s, node))
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
	node = timeline_node(s);
	/* What it is the end of has ended when it is on the stack. */
	if (!node || !wait_for_end(s, node))
		return;
	node = timeline_push(s, t, node, HODO_SLICE_SPAN, s->event->cls->base, s->now_ns);
	if (!node)
		return;
	node->slice.cls = s->event->cls;
	t->latest_ns = s->now_ns;
	timeline_begin(s, node, s->event);
}

void timeline_span_end(struct hodo_timeline *s, struct timeline_thread *t)
{
	const struct hodo_read_event *e = s->event;
	struct timeline_node *node;
	struct hodo_pair begin;
	int paired;

	hodo_pair_key(&s->key, e);
	paired = hodo_pairs_end(s->pairs, &s->key, hodo_pair_base(e), &begin);
	if (paired < 0) {
		timeline_fail(s, paired);
		return;
	}
	node = paired == HODO_PAIR_NONE ? NULL : (struct timeline_node *)begin.user;
	if (paired == HODO_PAIR_LEFT)
		give_up(s, node);
	if (paired != HODO_PAIR_FOUND) {
		if (is_async(e))
			timeline_track(s, HODO_TRACK_ASYNC, e->process, e->cls->base, 0);
		timeline_instant(s, t, true);
		return;
	}
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

void timeline_spans_close(struct hodo_timeline *s)
{
	struct hodo_pair begin;

	while (hodo_pairs_oldest(s->pairs, &begin))
		give_up(s, (struct timeline_node *)begin.user);
}
