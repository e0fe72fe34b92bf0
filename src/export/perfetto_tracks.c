/* SPDX-License-Identifier: MIT */
/* perfetto_tracks.c - processes, threads, counters, CPUs, and lanes of spans that may overlap. */
#include "perfetto_impl.h"

#include <errno.h>
#include <read/pairs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the track is to be written now: the first time. */
static int is_new(struct perfetto *p, uint64_t uuid)
{
	bool new;

	return hodo_map_add_u64(&p->tracks, uuid, &new) ? new : -ENOMEM;
}

static int put(struct perfetto *p, Perfetto__TrackDescriptor *track, uint64_t uuid, uint64_t parent)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = 1;
	track->uuid = uuid;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.track_descriptor = track;
	return perfetto_put(p, &packet);
}

static int put_process(struct perfetto *p, uint64_t uuid, uint32_t pid, const char *comm, const char *exe)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	size_t comm_len = strlen(comm), exe_len = strlen(exe);
	char *cmdline;
	int err = perfetto_scratch(p, PERFETTO_TEXT_ROOM(comm_len) + PERFETTO_TEXT_ROOM(exe_len));

	if (err)
		return err;
	process.has_pid = 1;
	process.pid = (int32_t)pid;
	process.process_name = perfetto_text(p, comm, comm_len);
	cmdline = perfetto_text(p, exe, exe_len);
	process.n_cmdline = exe_len > 0;
	process.cmdline = &cmdline;
	track.process = &process;
	return put(p, &track, uuid, 0);
}

static int put_thread(struct perfetto *p, uint64_t uuid, uint64_t parent, uint32_t pid, uint32_t tid, const char *comm)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;

	thread.has_pid = thread.has_tid = 1;
	thread.pid = (int32_t)pid;
	thread.tid = (int32_t)tid;
	thread.thread_name = perfetto_text_alone(p, comm, strlen(comm));
	track.thread = &thread;
	return thread.thread_name ? put(p, &track, uuid, parent) : -ENOMEM;
}

static int put_plain(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

	track.name = perfetto_text_alone(p, name, strlen(name));
	return track.name ? put(p, &track, uuid, parent) : -ENOMEM;
}

/* ----------------------------------------------------------- processes and threads */

int perfetto_processes(struct perfetto *p)
{
	for (uint32_t i = 0; i < hodo_read_nprocesses(p->e->reader); i++) {
		struct perfetto_number *n =
			hodo_map_add_u64(&p->processes, (uintptr_t)hodo_read_process(p->e->reader, i), NULL);

		if (!n)
			return -ENOMEM;
		n->number = i + 1;
	}
	return 0;
}

static uint64_t number_of(struct perfetto *p, const struct hodo_read_process *process)
{
	const struct perfetto_number *n = hodo_map_find_u64(&p->processes, (uintptr_t)process);

	return n ? n->number : 0;
}

static int need_process(struct perfetto *p, const struct hodo_read_process *process, uint64_t *uuid)
{
	int new;

	*uuid = PERFETTO_PROCESS | number_of(p, process);
	new = is_new(p, *uuid);
	return new <= 0 ? new : put_process(p, *uuid, process->pid, process->kernel ? "kernel" : process->comm,
					    process->exe);
}

/* What the kernel says of a thread stands below the thread's own track, if its process was recorded too. */
static int put_kernel(struct perfetto *p, const struct hodo_read_process *kernel, uint32_t pid, uint32_t tid,
		       const char *comm, uint64_t *uuid)
{
	const struct hodo_read_process *owner = NULL;
	uint64_t thread = PERFETTO_TID | tid, process = PERFETTO_PID | pid;
	int new;

	*uuid = PERFETTO_KERNEL | number_of(p, kernel) << 32 | tid;
	new = is_new(p, *uuid);
	if (new <= 0)
		return new;
	for (uint32_t i = 0; i < hodo_read_nprocesses(p->e->reader) && !owner; i++) {
		const struct hodo_read_process *other = hodo_read_process(p->e->reader, i);

		if (!other->kernel && other->pid == pid && pid != 0)
			owner = other;
	}
	if (owner) {
		new = perfetto_thread(p, owner, pid, tid, comm, &thread);
		return new < 0 ? new : put_plain(p, *uuid, thread, "kernel");
	}
	new = is_new(p, process);
	if (new > 0)
		new = put_process(p, process, pid, pid == 0 ? "kernel" : comm, "");
	if (new >= 0)
		new = is_new(p, thread);
	if (new > 0)
		new = put_thread(p, thread, process, pid, tid, comm);
	return new < 0 ? new : put_plain(p, *uuid, thread, "kernel");
}

int perfetto_thread(struct perfetto *p, const struct hodo_read_process *process, uint32_t pid, uint32_t tid,
		    const char *comm, uint64_t *uuid)
{
	uint64_t parent;
	int new;

	if (process->kernel)
		return put_kernel(p, process, pid, tid, comm, uuid);
	*uuid = PERFETTO_THREAD | number_of(p, process) << 32 | tid;
	new = is_new(p, *uuid);
	if (new <= 0)
		return new;
	new = need_process(p, process, &parent);
	return new < 0 ? new : put_thread(p, *uuid, parent, process->pid, tid, comm);
}

/* -------------------------------------------------------------------- other tracks */

static int put_counter(struct perfetto *p, const struct hodo_track *t, uint64_t uuid)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	size_t len = strlen(t->name);
	uint64_t parent;
	int err = need_process(p, t->process, &parent);

	if (err)
		return err;
	track.name = perfetto_text_alone(p, t->name, len);
	if (!track.name)
		return -ENOMEM;
	if (len >= 5 && strcmp(t->name + len - 5, "bytes") == 0) {
		counter.has_unit = 1;
		counter.unit = PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
	}
	track.counter = &counter;
	return put(p, &track, uuid, parent);
}

static int put_cpu(struct perfetto *p, const struct hodo_track *t, uint64_t uuid)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	int new = is_new(p, PERFETTO_CPUS);

	if (new > 0) {
		track.name = (char *)(uintptr_t)"CPUs";
		track.has_child_ordering = 1;
		track.child_ordering = PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
		new = put(p, &track, PERFETTO_CPUS, 0);
	}
	if (new < 0)
		return new;
	track = (Perfetto__TrackDescriptor)PERFETTO__TRACK_DESCRIPTOR__INIT;
	track.name = (char *)(uintptr_t)t->name; /* our own text */
	track.has_sibling_order_rank = 1;
	track.sibling_order_rank = t->cpu;
	return put(p, &track, uuid, PERFETTO_CPUS);
}

int perfetto_loss_track(struct perfetto *p, const struct hodo_read_process *process, uint32_t stream, uint64_t *uuid)
{
	const char *name = process->streams[stream]->name;
	char text[300];
	uint64_t parent;
	int new;

	*uuid = PERFETTO_LOSSES | number_of(p, process) << 32 | stream;
	new = is_new(p, *uuid);
	if (new > 0)
		new = need_process(p, process, &parent);
	else
		return new;
	snprintf(text, sizeof(text), "lost: %.250s", name);
	return new < 0 ? new : put_plain(p, *uuid, parent, text);
}

uint64_t perfetto_uuid(const struct hodo_track *track)
{
	return (uint64_t)(uintptr_t)track->user;
}

int perfetto_track(struct perfetto *p, struct hodo_track *track)
{
	uint64_t uuid = PERFETTO_TRACK | track->id;
	int err = 0;

	if (track->kind == HODO_TRACK_COUNTER)
		err = put_counter(p, track, uuid);
	else if (track->kind == HODO_TRACK_CPU)
		err = put_cpu(p, track, uuid);
	else if (track->kind == HODO_TRACK_THREAD)
		err = perfetto_thread(p, track->process, track->pid, track->tid, track->name, &uuid);
	track->user = (void *)(uintptr_t)uuid;
	return err;
}

/* --------------------------------------------------------------------------- lanes */

#define LANES_MAX (HODO_PAIRS_MAX / 64) /* words of their bits */

uint64_t perfetto_lane_uuid(const struct hodo_track *track, uint32_t lane)
{
	return PERFETTO_LANE | (uint64_t)track->id << 28 | lane;
}

static int grow(struct perfetto_lanes *l)
{
	uint32_t words = l->words ? l->words * 2 : 1;
	uint64_t *busy = realloc(l->busy, words * sizeof(*busy)), *flows;

	if (!busy)
		return -ENOMEM;
	l->busy = busy;
	flows = realloc(l->flows, (size_t)words * 64 * sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	l->flows = flows;
	memset(busy + l->words, 0, (words - l->words) * sizeof(*busy));
	l->words = words;
	return 0;
}

int perfetto_lane_take(struct perfetto *p, const struct hodo_track *track, uint64_t flow, uint32_t *lane)
{
	struct perfetto_lanes *l = hodo_map_add_u64(&p->lanes, (uintptr_t)track, NULL);
	uint64_t uuid, parent;
	uint32_t word;
	int new;

	if (!l)
		return -ENOMEM;
	for (word = l->first; word < l->words && l->busy[word] == UINT64_MAX; word++)
		;
	if (word == l->words && (l->words >= 2 * LANES_MAX || grow(l) < 0))
		return -ENOMEM;
	l->first = word;
	*lane = word * 64 + (uint32_t)__builtin_ctzll(~l->busy[word]);
	l->busy[word] |= 1ull << *lane % 64;
	l->flows[*lane] = flow;
	uuid = perfetto_lane_uuid(track, *lane);
	new = is_new(p, uuid);
	if (new > 0)
		new = need_process(p, track->process, &parent);
	else
		return new;
	return new < 0 ? new : put_plain(p, uuid, parent, track->name);
}

uint64_t perfetto_lane_give(struct perfetto *p, const struct hodo_track *track, uint32_t lane)
{
	struct perfetto_lanes *l = hodo_map_find_u64(&p->lanes, (uintptr_t)track);

	if (!l || lane / 64 >= l->words)
		return 0;
	l->busy[lane / 64] &= ~(1ull << lane % 64);
	if (lane / 64 < l->first)
		l->first = lane / 64;
	return l->flows[lane];
}

void perfetto_lanes_free(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->lanes.n; i++) {
		struct perfetto_lanes *l = hodo_map_at(&p->lanes, i);

		free(l->busy);
		free(l->flows);
	}
	hodo_map_free(&p->lanes);
}
