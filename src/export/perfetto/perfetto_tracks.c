/* SPDX-License-Identifier: MIT */
/* perfetto_tracks.c - processes, threads, counters, CPUs, and lanes of spans that may overlap. */
#include "perfetto_impl.h"

#include <export/hosts.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WHOLE_PROCESS (1ull << 32) /* the others are thread ids */
/* For unrecorded processes in the kernel's events, and their threads. */
#define UNRECORDED(pid) (WHOLE_PROCESS | (pid))
#define OF_HOST(t, number) ((number) | (uint64_t)(t)->process->host << 40)

static uint64_t find(const struct perfetto *p, const void *of, uint64_t number)
{
	const struct perfetto_track_key key = { of, number };
	const struct perfetto_track *known = hodo_map_find(&p->tracks, &key);

	return known ? known->uuid : 0;
}

static uint64_t keep(struct perfetto *p, const void *of, uint64_t number, uint64_t uuid)
{
	const struct perfetto_track_key key = { of, number };
	struct perfetto_track *known = hodo_map_add(&p->tracks, &key, NULL);

	if (known)
		known->uuid = uuid;
	else
		hodo_text_fail(p->e->out, -ENOMEM);
	return uuid;
}

static uint64_t put(struct perfetto *p, Perfetto__TrackDescriptor *track, uint64_t parent)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->uuid = ++p->nuuids;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.track_descriptor = track;
	perfetto_put(p, &packet);
	return track->uuid;
}

static char *text(struct perfetto *p, const char *s)
{
	return perfetto_text(p, s, strlen(s));
}

/* of: the process, or the kernel that saw it. */
static uint64_t put_process(struct perfetto *p, const struct hodo_read_process *of, uint32_t pid, const char *comm,
			    const char *exe)
{
	char name[160];
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char *cmdline = text(p, exe);

	process.pid = (int32_t)hodo_number_apart(of, pid);
	process.process_name = text(p, hodo_name_apart(p->e->reader, of, comm, name));
	process.n_cmdline = exe[0] != 0;
	process.cmdline = &cmdline;
	track.process = &process;
	return put(p, &track, 0);
}

static uint64_t put_thread(struct perfetto *p, uint64_t parent, const struct hodo_track *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;

	thread.pid = (int32_t)hodo_number_apart(t->process, t->pid);
	thread.tid = (int32_t)hodo_number_apart(t->process, t->tid);
	thread.thread_name = text(p, t->name);
	track.thread = &thread;
	return put(p, &track, parent);
}

static uint64_t put_plain(struct perfetto *p, uint64_t parent, const char *name)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

	track.name = text(p, name);
	return put(p, &track, parent);
}

/* ----------------------------------------------------------- processes and threads */

/* process: NULL if it was not recorded; t: a track of it. */
static uint64_t process_track(struct perfetto *p, const struct hodo_read_process *process, const struct hodo_track *t)
{
	uint64_t number = process ? WHOLE_PROCESS : OF_HOST(t, UNRECORDED(t->pid)), uuid = find(p, process, number);

	if (uuid)
		return uuid;
	uuid = process ? put_process(p, process, process->pid, process->kernel ? "kernel" : process->comm, process->exe)
		       : put_process(p, t->process, t->pid, t->pid == 0 ? "kernel" : t->name, "");
	return keep(p, process, number, uuid);
}

static uint64_t thread_track(struct perfetto *p, const struct hodo_read_process *process, const struct hodo_track *t)
{
	uint64_t number = OF_HOST(t, t->tid), uuid = find(p, process, number);

	return uuid ? uuid : keep(p, process, number, put_thread(p, process_track(p, process, t), t));
}

/* The kernel's events of a thread are below the thread's own track, if its process was also recorded. */
static uint64_t put_kernel(struct perfetto *p, const struct hodo_track *t)
{
	const struct hodo_read_process *owner = NULL, *process;

	for (uint32_t i = 0; t->pid && !owner && (process = hodo_read_process(p->e->reader, i)) != NULL; i++)
		if (!process->kernel && process->pid == t->pid && process->host == t->process->host)
			owner = process;
	return put_plain(p, thread_track(p, owner, t), "kernel");
}

/* -------------------------------------------------------------------- other tracks */

static uint64_t put_counter(struct perfetto *p, const struct hodo_track *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	size_t len = strlen(t->name);
	uint64_t parent = process_track(p, t->process, t);

	track.name = text(p, t->name);
	if (len >= 5 && strcmp(t->name + len - 5, "bytes") == 0)
		PERFETTO_SET(counter, unit, PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES);
	track.counter = &counter;
	return put(p, &track, parent);
}

static uint64_t put_cpu(struct perfetto *p, const struct hodo_track *t)
{
	static const char all[] = "CPUs";
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT, cpus = track;
	uint64_t parent = find(p, all, 0);

	if (!parent) {
		cpus.name = text(p, all);
		PERFETTO_SET(cpus, child_ordering, PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT);
		parent = keep(p, all, 0, put(p, &cpus, 0));
	}
	track.name = text(p, t->name);
	PERFETTO_SET(track, sibling_order_rank, t->cpu);
	return put(p, &track, parent);
}

uint64_t perfetto_loss_track(struct perfetto *p, const struct hodo_read_loss *loss)
{
	uint64_t uuid = find(p, loss->stream, 0);
	char name[300];

	if (uuid)
		return uuid;
	snprintf(name, sizeof(name), "lost: %.250s", loss->stream->name);
	return keep(p, loss->stream, 0, put_plain(p, process_track(p, loss->process, NULL), name));
}

void perfetto_track(struct perfetto *p, struct hodo_track *t)
{
	struct perfetto_lane *lanes;
	uint64_t uuid;

	if (t->kind == HODO_TRACK_ASYNC) {
		t->user = lanes = hodo_arena_alloc(&p->lanes, sizeof(*lanes));
		if (lanes)
			lanes->next = NULL;
		else
			hodo_text_fail(p->e->out, -ENOMEM);
		return;
	}
	uuid = t->kind == HODO_TRACK_COUNTER ? put_counter(p, t) :
	       t->kind == HODO_TRACK_CPU     ? put_cpu(p, t) :
	       t->process->kernel            ? put_kernel(p, t) : thread_track(p, t->process, t);
	t->user = (void *)(uintptr_t)uuid;
}

/* --------------------------------------------------------------------------- lanes */

struct perfetto_lane *perfetto_lane_take(struct perfetto *p, const struct hodo_track *track)
{
	struct perfetto_lane *lanes = track->user, *lane = lanes->next;

	if (lane) {
		lanes->next = lane->next;
		return lane;
	}
	lane = hodo_arena_alloc(&p->lanes, sizeof(*lane));
	if (lane)
		lane->uuid = put_plain(p, process_track(p, track->process, NULL), track->name);
	else
		hodo_text_fail(p->e->out, -ENOMEM);
	return lane;
}

void perfetto_lane_give(const struct hodo_track *track, struct perfetto_lane *lane)
{
	struct perfetto_lane *lanes = track->user;

	lane->next = lanes->next;
	lanes->next = lane;
}
