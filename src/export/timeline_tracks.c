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

struct timeline_process *timeline_add_process(struct hodo_timeline *s, const struct hodo_read_process *pub)
{
	struct timeline_process *p = hodo_map_add_u64(&s->processes, (uintptr_t)pub, NULL);

	if (!p) {
		timeline_fail(s, -ENOMEM);
		return NULL;
	}
	p->pub = pub;
	return p;
}

struct timeline_process *timeline_process(struct hodo_timeline *s, const struct hodo_read_process *pub)
{
	if (!s->last || s->last->pub != pub)
		s->last = hodo_map_find_u64(&s->processes, (uintptr_t)pub);
	return s->last;
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

struct timeline_thread *timeline_thread(struct hodo_timeline *s, struct timeline_process *p, uint32_t pid,
					uint32_t tid, const char *comm)
{
	struct timeline_thread_key key = { p, tid };
	const struct hodo_read_thread *known;
	struct timeline_thread *t = s->recent;

	if (t && t->track.tid == tid && t->process == p)
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
	if (t && !t->process) {
		t->process = p;
		t->track = (struct hodo_track){ .kind = HODO_TRACK_THREAD, .process = p->pub, .pid = pid, .tid = tid };
		known = tid ? hodo_read_thread(p->pub, tid) : NULL;
		add_track(s, &t->track, known && known->comm && known->comm[0] ? known->comm : comm);
	}
	if (key.tid == tid)
		s->recent = t;
	return t;
}

struct hodo_track *timeline_track(struct hodo_timeline *s, enum hodo_track_kind kind,
				  const struct hodo_read_process *process, const char *name, int32_t cpu)
{
	uint64_t key = (uint64_t)(name ? (uintptr_t)name : (uint32_t)cpu) << 2 | kind;
	struct hodo_track *track = hodo_map_keep_u64(&s->tracks, key, sizeof(*track));
	char text[32];

	if (!track)
		timeline_fail(s, -ENOMEM);
	if (!track || track->name)
		return track;
	snprintf(text, sizeof(text), "CPU %d", (int)cpu);
	*track = (struct hodo_track){ .kind = kind, .process = process, .pid = process ? process->pid : 0, .cpu = cpu };
	add_track(s, track, name ? name : text);
	return track;
}

void timeline_instant(struct hodo_timeline *s, struct timeline_thread *t, bool unpaired)
{
	s->totals.unpaired += unpaired;
	s->totals.instants++;
	if (s->ops.instant)
		timeline_fail(s, s->ops.instant(s->data, &t->track, s->event, t->nstack));
}
