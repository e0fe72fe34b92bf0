/* SPDX-License-Identifier: MIT */
/* timeline_tracks.c - processes, threads and other tracks of a timeline, made when they are first met. */
#define _GNU_SOURCE
#include "timeline_impl.h"

#include <errno.h>
#include <read/threads.h>
#include <stdio.h>
#include <string.h>

void timeline_fail(struct hodo_timeline *s, int error)
{
	if (!s->error)
		s->error = error;
}

void *timeline_alloc(struct hodo_timeline *s, size_t bytes)
{
	void *memory = hodo_arena_alloc(&s->memory, bytes);

	if (!memory)
		timeline_fail(s, -ENOMEM);
	return memory ? memset(memory, 0, bytes) : NULL;
}

struct timeline_process *timeline_add_process(struct hodo_timeline *s, const struct hodo_read_process *pub)
{
	struct hodo_read_lost lost = hodo_read_lost(s->reader, pub);
	struct timeline_process *p = hodo_map_add_u64(&s->processes, (uintptr_t)pub, NULL);

	if (!p) {
		timeline_fail(s, -ENOMEM);
		return NULL;
	}
	p->pub = pub;
	p->lossy = lost.full || lost.too_large || lost.busy || lost.overwritten || lost.unwritten || lost.unknown;
	return p;
}

struct timeline_process *timeline_process(struct hodo_timeline *s, const struct hodo_read_process *pub)
{
	if (!s->last || s->last->pub != pub)
		s->last = hodo_map_find_u64(&s->processes, (uintptr_t)pub);
	return s->last;
}

static void add_track(struct hodo_timeline *s, struct hodo_track *track)
{
	track->id = s->ntracks++;
	if (!s->error && s->ops.track)
		timeline_fail(s, s->ops.track(s->data, track));
}

static struct timeline_thread *new_thread(struct hodo_timeline *s, struct timeline_process *p, uint32_t pid,
					  uint32_t tid, const char *comm)
{
	const struct hodo_read_thread *known = tid ? hodo_read_thread(p->pub, tid) : NULL;
	struct timeline_thread *t = timeline_alloc(s, sizeof(*t));

	if (known && known->comm && known->comm[0])
		comm = known->comm;
	if (t)
		t->track.name = hodo_arena_copy(&s->memory, comm, strlen(comm));
	if (!t || !t->track.name) {
		timeline_fail(s, -ENOMEM);
		return NULL;
	}
	t->process = p;
	t->track.kind = HODO_TRACK_THREAD;
	t->track.process = p->pub;
	t->track.pid = pid;
	t->track.tid = tid;
	add_track(s, &t->track);
	return t;
}

struct timeline_thread *timeline_thread(struct hodo_timeline *s, struct timeline_process *p, uint32_t pid,
					uint32_t tid, const char *comm)
{
	const struct timeline_thread_key key = { p, tid };
	struct timeline_thread_entry *e;

	if (s->recent && s->recent->track.tid == tid && s->recent->process == p)
		return s->recent;
	e = hodo_map_find(&s->threads, &key);
	if (!e && s->ntracks >= HODO_TIMELINE_TRACKS_MAX) {
		if (!p->others)
			p->others = new_thread(s, p, pid, 0, "other threads");
		return p->others;
	}
	if (!e) {
		e = hodo_map_add(&s->threads, &key, NULL);
		if (!e)
			timeline_fail(s, -ENOMEM);
	}
	if (e && !e->thread)
		e->thread = new_thread(s, p, pid, tid, comm);
	if (e)
		s->recent = e->thread;
	return s->recent;
}

struct hodo_track *timeline_track(struct hodo_timeline *s, enum hodo_track_kind kind,
				  const struct hodo_read_process *process, const char *name, int32_t cpu)
{
	uint64_t key = (uint64_t)(name ? (uintptr_t)name : (uint32_t)cpu) << 2 | kind;
	bool is_new = false;
	struct timeline_track_entry *e = hodo_map_add_u64(&s->tracks, key, &is_new);
	char text[32];

	if (!e)
		timeline_fail(s, -ENOMEM);
	if (!is_new)
		return e ? e->track : NULL;
	e->track = timeline_alloc(s, sizeof(*e->track));
	snprintf(text, sizeof(text), "CPU %d", (int)cpu);
	if (e->track)
		e->track->name = name ? name : hodo_arena_copy(&s->memory, text, strlen(text));
	if (!e->track || !e->track->name) {
		e->track = NULL;
		timeline_fail(s, -ENOMEM);
		return NULL;
	}
	e->track->kind = kind;
	e->track->process = process;
	e->track->pid = process ? process->pid : 0;
	e->track->cpu = cpu;
	add_track(s, e->track);
	return e->track;
}

void timeline_instant(struct hodo_timeline *s, struct timeline_thread *t, bool unpaired)
{
	s->totals.unpaired += unpaired;
	s->totals.instants++;
	if (s->ops.instant)
		timeline_fail(s, s->ops.instant(s->data, &t->track, s->event, t->nstack));
}
