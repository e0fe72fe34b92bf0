/* SPDX-License-Identifier: MIT */
/* story_threads.c - the threads of a story, found by process and id in a table that grows; all, as they came. */
#define _GNU_SOURCE
#include "story_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 6u

static struct story_thread *new_thread(struct hodo_story *s, struct story_process *p, uint32_t pid, uint32_t tid,
				       const char *comm)
{
	struct story_thread *t = calloc(1, sizeof(*t));

	if (t)
		t->track.name = story_name(s, comm, strlen(comm));
	if (!t || !t->track.name) {
		free(t);
		story_fail(s, -ENOMEM);
		return NULL;
	}
	t->process = p;
	t->track.kind = HODO_TRACK_THREAD;
	t->track.process = p->pub;
	t->track.pid = pid;
	t->track.tid = tid;
	*(s->threads.last ? &s->threads.last->later : &s->threads.first) = t;
	s->threads.last = t;
	story_track(s, &t->track);
	return t;
}

static struct story_thread **chain_of(const struct hodo_story *s, const struct story_process *p, uint32_t tid)
{
	return &s->threads.chains[story_hash(s, tid, p->number, s->threads.bits)];
}

static bool grow(struct hodo_story *s)
{
	struct story_threads old = s->threads;
	uint32_t bits = old.chains ? old.bits + 1 : FIRST_BITS;
	struct story_thread **chains = calloc((size_t)1 << bits, sizeof(*chains));

	if (!chains) {
		story_fail(s, -ENOMEM);
		return false;
	}
	s->threads.chains = chains;
	s->threads.bits = bits;
	for (size_t i = 0; old.chains && i < (size_t)1 << old.bits; i++) {
		for (struct story_thread *t = old.chains[i], *next; t; t = next) {
			struct story_thread **chain = chain_of(s, t->process, t->track.tid);

			next = t->next;
			t->next = *chain;
			*chain = t;
		}
	}
	free(old.chains);
	return true;
}

static struct story_thread *find(const struct hodo_story *s, const struct story_process *p, uint32_t tid)
{
	struct story_thread *t = s->threads.chains ? *chain_of(s, p, tid) : NULL;

	while (t && (t->track.tid != tid || t->process != p))
		t = t->next;
	return t;
}

static struct story_thread *add(struct hodo_story *s, struct story_process *p, uint32_t pid, uint32_t tid,
				const char *comm)
{
	struct story_thread *t, **chain;

	if ((!s->threads.chains || s->threads.n >> s->threads.bits) && !grow(s))
		return NULL;
	t = new_thread(s, p, pid, tid, comm);
	if (!t)
		return NULL;
	chain = chain_of(s, p, tid);
	t->next = *chain;
	*chain = t;
	s->threads.n++;
	return t;
}

struct story_thread *story_thread(struct hodo_story *s, struct story_process *p, uint32_t pid, uint32_t tid,
				  const char *comm)
{
	struct story_thread *t = s->threads.recent;

	if (t && t->track.tid == tid && t->process == p)
		return t;
	t = find(s, p, tid);
	if (!t && s->ntracks >= HODO_STORY_TRACKS_MAX) {
		if (!p->others)
			p->others = new_thread(s, p, pid, 0, "other threads");
		return p->others;
	}
	if (!t)
		t = add(s, p, pid, tid, comm);
	if (t)
		s->threads.recent = t;
	return t;
}

void story_threads_free(struct hodo_story *s)
{
	for (struct story_thread *t = s->threads.first, *later; t; t = later) {
		later = t->later;
		for (uint32_t i = 0; i < t->nstack; i++)
			free(t->stack[i]);
		free(t->stack);
		free(t->wholes);
		free(t);
	}
	free(s->threads.chains);
}
