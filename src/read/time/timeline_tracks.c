/* SPDX-License-Identifier: MIT */
/* timeline_tracks.c - processes, threads and other tracks of a timeline, made when they are first met. */
#include "timeline_impl.h"
#include <read/event/threads.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

void timeline_fail(struct hodo_timeline *s, int error)
{
	if (!s->error)
		s->error = error;
}

struct timeline_process *timeline_add_process(struct hodo_timeline *s, const struct hodo_read_process *pub)
{
	struct timeline_process *p = hodo_map_keep_u64(&s->processes, (uintptr_t)pub, sizeof(*p));

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
		s->last = timeline_add_process(s, pub); /* it may come while it is read */
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
		t->late_ns = INT64_MIN;
		t->track = (struct hodo_track){ .kind = HODO_TRACK_THREAD, .process = p->pub, .pid = pid, .tid = tid };
		known = tid ? hodo_read_thread(p->pub, tid) : NULL;
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

struct hodo_track *timeline_track(struct hodo_timeline *s, enum hodo_track_kind kind,
				  const struct hodo_read_process *process, const char *name)
{
	struct hodo_track *track = find_track(s, kind, (uintptr_t)name);

	if (!track || track->name)
		return track;
	*track = (struct hodo_track){ .kind = kind, .process = process, .pid = process->pid };
	add_track(s, track, name);
	return track;
}

struct hodo_track *timeline_cpu(struct hodo_timeline *s, const struct hodo_read_process *kernel, int32_t cpu)
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

void timeline_instant(struct hodo_timeline *s, struct timeline_thread *t, bool unpaired)
{
	s->totals.unpaired += unpaired;
	s->totals.instants++;
	if (s->ops.instant)
		timeline_fail(s, s->ops.instant(s->data, &t->track, s->event, t->nstack));
}
