/* SPDX-License-Identifier: MIT */
/* story_async.c - slices that are paired by the first field of their events, wherever these were. */
#define _GNU_SOURCE
#include "story_impl.h"

#include <errno.h>
#include <stdlib.h>

/* The first field as a number; of a text or bytes a hash (FNV-1a). */
static uint64_t id_of(const struct hodo_read_event *e)
{
	const struct hodo_read_value *v = e->values;
	uint64_t hash = 0xcbf29ce484222325ull;

	if (e->cls->nfields == 0)
		return 0;
	switch (v->type) {
	case HODO_TYPE_STR:
	case HODO_TYPE_BYTES:
		for (uint32_t i = 0; i < v->count; i++)
			hash = (hash ^ ((const unsigned char *)v->data)[i]) * 0x100000001b3ull;
		return hash;
	default:
		return v->u;
	}
}

static struct hodo_track *track_of(struct hodo_story *s, struct story_process *p, struct story_class *c)
{
	struct hodo_track *track = c->base->track;

	if (track)
		return track;
	track = calloc(1, sizeof(*track));
	if (!track) {
		story_fail(s, -ENOMEM);
		return NULL;
	}
	track->kind = HODO_TRACK_ASYNC;
	track->process = p->pub;
	track->pid = p->pub->pid;
	track->name = c->name;
	c->base->track = track;
	story_track(s, track);
	return track;
}

/* Of the list of all. */
static void take_out(struct hodo_story *s, struct story_node *node)
{
	*(node->older ? &node->older->newer : &s->oldest) = node->newer;
	*(node->newer ? &node->newer->older : &s->newest) = node->older;
	s->nasync--;
}

static void end_oldest(struct hodo_story *s)
{
	struct story_node *node = s->oldest;

	take_out(s, node);
	node->slice.end_ns = s->now_ns;
	node->slice.flags |= HODO_SLICE_OPEN;
	story_end(s, node, NULL);
}

void story_async_begin(struct hodo_story *s, struct story_process *p, struct story_class *c)
{
	struct hodo_track *track = track_of(s, p, c);
	struct story_node *node = track ? story_node(s) : NULL;

	if (!node)
		return;
	if (s->nasync >= HODO_STORY_OPEN_MAX)
		end_oldest(s);
	node->slice.track = track;
	node->slice.kind = HODO_SLICE_ASYNC;
	node->slice.name = c->name;
	node->slice.cls = s->event->cls;
	node->slice.begin_ns = s->now_ns;
	node->slice.id = id_of(s->event);
	node->slice.pid = track->pid;
	if (!story_open_put(s, node, node->slice.id)) {
		free(node);
		return;
	}
	node->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = node;
	s->newest = node;
	s->nasync++;
	story_begin(s, node, s->event);
}

void story_async_end(struct hodo_story *s, struct story_process *p, struct story_class *c, struct story_thread *t)
{
	struct hodo_track *track = track_of(s, p, c);
	uint64_t id = id_of(s->event);
	struct story_node *node = track ? story_open_find(s, track, id) : NULL;

	if (!node) {
		story_instant(s, t, true);
		return;
	}
	take_out(s, node);
	node->slice.end_ns = s->now_ns;
	story_end(s, node, s->event);
}

void story_async_close(struct hodo_story *s)
{
	while (s->oldest)
		end_oldest(s);
}

void story_async_free(struct hodo_story *s)
{
	while (s->oldest) {
		struct story_node *next = s->oldest->newer;

		free(s->oldest);
		s->oldest = next;
	}
}
