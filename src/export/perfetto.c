/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - a recording as Perfetto reads it: packets of one sequence, with the schema in perfetto.proto.
 *
 * Times are nanoseconds since the epoch, and said to be the trace's own clock, which is the one since boot: what that
 * was is not in a recording, and nothing is gained by it. A clock snapshot says that both are the same.
 */
#define _GNU_SOURCE
#include "perfetto_impl.h"

#include <errno.h>
#include <read/threads.h>

#define CLOCK_REAL 1u
#define CLOCK_BOOT 6u
#define NO_LANE    UINT32_MAX

static int begin_trace(struct perfetto *p)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[2], *list[] = { &clocks[0], &clocks[1] };
	int64_t begin_ns = hodo_read_begin_ns(p->e->reader);

	for (unsigned i = 0; i < 2; i++) {
		clocks[i] = (Perfetto__ClockSnapshot__Clock)PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
		clocks[i].has_clock_id = clocks[i].has_timestamp = 1;
		clocks[i].clock_id = i ? CLOCK_BOOT : CLOCK_REAL;
		clocks[i].timestamp = begin_ns > 0 ? (uint64_t)begin_ns : 0;
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = 1;
	return perfetto_put(p, &packet);
}

static int on_track(void *data, struct hodo_track *track)
{
	return track->kind == HODO_TRACK_ASYNC ? 0 : perfetto_track(data, track);
}

/* The begin or end of an id-paired span, on the thread where it happened: there the arrows are. */
static int put_flow(struct perfetto *p, const struct hodo_read_event *event, const struct perfetto_class *k,
		    uint64_t flow, bool ends)
{
	struct perfetto_point point = { .ts_ns = event->ts_ns, .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
			       .name = k->name, .category = k->category, .location = k->location, .flow = flow,
			       .flow_ends = ends };
	int err = perfetto_thread(p, event->process, event->pid, event->tid, hodo_read_thread_name(event),
				  &point.track);

	return err ? err : perfetto_point(p, &point);
}

static int begin_async(struct perfetto *p, struct hodo_slice *slice, const struct perfetto_class *k,
		       struct perfetto_point *point, const struct hodo_read_event *event)
{
	uint32_t lane = 0;
	int err;

	point->flow = ++p->nflows;
	err = perfetto_lane_take(p, slice->track, point->flow, &lane);
	if (!err && event && k)
		err = put_flow(p, event, k, point->flow, false);
	slice->user = (void *)(uintptr_t)(lane + 1);
	point->track = perfetto_lane_uuid(slice->track, lane);
	return err;
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct perfetto *p = data;
	const struct perfetto_class *k = slice->cls ? perfetto_class(p, slice->cls) : NULL;
	struct perfetto_point point = { .ts_ns = slice->begin_ns, .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
			       .name = perfetto_name(p, slice->name), .track = perfetto_uuid(slice->track) };
	int err = 0;

	if (!point.name || (slice->cls && !k))
		return p->e->out->error ? p->e->out->error : -ENOMEM;
	point.category = slice->kind == HODO_SLICE_CALL ? p->calls :
			 slice->kind == HODO_SLICE_RUNNING ? p->sched : k ? k->category : 0;
	point.location = slice->kind != HODO_SLICE_CALL && k ? k->location : 0;
	if (slice->kind == HODO_SLICE_ASYNC)
		err = begin_async(p, slice, k, &point, event);
	if (!err && event && k && slice->kind != HODO_SLICE_CALL)
		err = perfetto_notes(p, k, event);
	if (slice->flags & HODO_SLICE_CONTINUED)
		perfetto_note_bool(p, NOTE_CONTINUED);
	if (slice->kind == HODO_SLICE_RUNNING) {
		perfetto_note_number(p, NOTE_PID, slice->pid);
		perfetto_note_number(p, NOTE_TID, slice->id);
	}
	return err ? err : perfetto_point(p, &point);
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct perfetto *p = data;
	const struct perfetto_class *k = event ? perfetto_class(p, event->cls) : NULL;
	struct perfetto_point point = { .ts_ns = slice->end_ns, .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END,
			       .track = perfetto_uuid(slice->track) };
	uint32_t lane = slice->user ? (uint32_t)(uintptr_t)slice->user - 1 : NO_LANE;
	uint64_t flow = 0;
	int err = 0;

	if (event && !k)
		return p->e->out->error ? p->e->out->error : -ENOMEM;
	/* A slice without an end is drawn up to the trace's end. */
	if (slice->flags & HODO_SLICE_OPEN && slice->kind != HODO_SLICE_ASYNC)
		return 0;
	if (slice->kind == HODO_SLICE_ASYNC) {
		point.track = perfetto_lane_uuid(slice->track, lane);
		flow = perfetto_lane_give(p, slice->track, lane);
	}
	if (k && slice->kind != HODO_SLICE_CALL)
		err = perfetto_notes(p, k, event);
	if (slice->flags & HODO_SLICE_LEFT)
		perfetto_note_bool(p, NOTE_LEFT);
	if (slice->flags & HODO_SLICE_OPEN)
		perfetto_note_bool(p, NOTE_OPEN);
	if (slice->kind == HODO_SLICE_RUNNING)
		perfetto_note_text(p, NOTE_WHY, hodo_sched_why_text(slice->sched_why));
	if (!err)
		err = perfetto_point(p, &point);
	if (!err && slice->kind == HODO_SLICE_ASYNC && event)
		err = put_flow(p, event, k, flow, true);
	return err;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct perfetto *p = data;
	const struct perfetto_class *k = perfetto_class(p, event->cls);
	struct perfetto_point point = { .ts_ns = event->ts_ns, .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
			       .track = perfetto_uuid(track) };
	int err;

	(void)depth;
	if (!k)
		return p->e->out->error ? p->e->out->error : -ENOMEM;
	point.name = k->name;
	point.category = k->category;
	point.location = k->location;
	err = perfetto_notes(p, k, event);
	return err ? err : perfetto_point(p, &point);
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct perfetto *p = data;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;
	const struct hodo_read_value *v = event->values;

	packet.has_timestamp = 1;
	packet.timestamp = event->ts_ns > 0 ? (uint64_t)event->ts_ns : 0;
	packet.track_event = &e;
	e.has_type = 1;
	e.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER;
	e.has_track_uuid = 1;
	e.track_uuid = perfetto_uuid(track);
	/* A whole number stays exact. */
	if (v->type < HODO_TYPE_F32 && (v->u <= INT64_MAX || value < 0)) {
		e.has_counter_value = 1;
		e.counter_value = v->i;
	} else {
		e.has_double_counter_value = 1;
		e.double_counter_value = value;
	}
	return perfetto_put(p, &packet);
}

static uint32_t index_of(const struct hodo_read_loss *loss)
{
	uint32_t i = 0;

	while (i + 1 < loss->process->nstreams && loss->process->streams[i] != loss->stream)
		i++;
	return i;
}

/* Where events are missing: a slice on a track of their stream. */
static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	struct perfetto *p = data;
	struct perfetto_point point = { .ts_ns = loss->from_ns, .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
					.name = perfetto_name(p, "lost events"), .category = p->lost };
	int err = point.name ? perfetto_loss_track(p, loss->process, index_of(loss), &point.track) : -ENOMEM;

	if (err)
		return err;
	/* They follow each other, whatever a damaged stream says. */
	if (p->loss_stream == loss->stream && point.ts_ns < p->loss_ns)
		point.ts_ns = p->loss_ns;
	p->loss_stream = loss->stream;
	p->loss_ns = loss->until_ns > point.ts_ns ? loss->until_ns : point.ts_ns;
	if (loss->discarded)
		perfetto_note_number(p, NOTE_DISCARDED, loss->discarded);
	if (loss->overwritten)
		perfetto_note_number(p, NOTE_OVERWRITTEN, loss->overwritten);
	if (loss->damaged)
		perfetto_note_number(p, NOTE_DAMAGED, loss->damaged);
	err = perfetto_point(p, &point);
	point = (struct perfetto_point){ .ts_ns = p->loss_ns, .track = point.track,
					 .type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END };
	return err ? err : perfetto_point(p, &point);
}

static const struct hodo_timeline_ops ops = { .track = on_track, .begin = on_begin, .end = on_end,
					      .instant = on_instant, .counter = on_counter, .loss = on_loss };

static int open_perfetto(void *state, struct hodo_export *e)
{
	struct perfetto *p = state;
	int err;

	p->e = e;
	p->classes = (struct hodo_map)HODO_MAP(struct perfetto_class, address);
	p->lanes = (struct hodo_map)HODO_MAP(struct perfetto_lanes, address);
	p->names = p->processes = p->tracks = (struct hodo_map)HODO_MAP(struct perfetto_number, key);
	err = begin_trace(p);
	if (!err)
		err = perfetto_names(p);
	return err ? err : perfetto_processes(p);
}

static void free_perfetto(void *state)
{
	struct perfetto *p = state;

	hodo_map_free(&p->classes);
	hodo_map_free(&p->names);
	hodo_map_free(&p->processes);
	hodo_map_free(&p->tracks);
	perfetto_lanes_free(p);
	hodo_text_free(&p->scratch);
}

const struct hodo_export_format hodo_export_perfetto = {
	.name = "perfetto",
	.suffix = "pftrace",
	.does = "a timeline: https://ui.perfetto.dev, trace_processor",
	.binary = true,
	.state_bytes = sizeof(struct perfetto),
	.open = open_perfetto,
	.timeline = &ops,
	.free = free_perfetto,
};
