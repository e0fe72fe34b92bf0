/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - a recording in Perfetto's format: packets of one sequence, with the schema in perfetto.proto.
 *
 * Times are nanoseconds since the epoch, declared as the trace's clock, the boot clock: a recording does not
 * have that, and it would add nothing. A clock snapshot declares both to be equal.
 */
#include "perfetto_impl.h"
#include <read/event/runs.h>

#define CLOCK_REAL 1u
#define CLOCK_BOOT 6u
#define BEGIN      PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
#define END        PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END
#define INSTANT    PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
#define COUNTER    PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER

static void begin_trace(struct perfetto *p)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[2], *list[] = { &clocks[0], &clocks[1] };
	int64_t begin_ns = hodo_read_begin_ns(p->e->reader);

	for (unsigned i = 0; i < 2; i++) {
		clocks[i] = (Perfetto__ClockSnapshot__Clock)PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
		clocks[i].clock_id = i ? CLOCK_BOOT : CLOCK_REAL;
		clocks[i].timestamp = begin_ns > 0 ? (uint64_t)begin_ns : 0;
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	PERFETTO_SET(packet, first_packet_on_sequence, 1);
	perfetto_put(p, &packet);
}

static int on_track(void *data, struct hodo_track *track)
{
	struct perfetto *p = data;

	perfetto_track(p, track);
	return p->e->out->error;
}

/* The event is one of an id-paired span: an arrow leads from the first to the last. */
static void set_flow(struct perfetto *p, const struct hodo_slice *slice)
{
	p->flow = slice->number;
	if (slice->ended_on) {
		p->event.n_terminating_flow_ids = 1;
		p->event.terminating_flow_ids = &p->flow;
	} else {
		p->event.n_flow_ids = 1;
		p->event.flow_ids = &p->flow;
	}
}

/* The start or end of an id-paired span, on the thread where it happened. */
static void put_flow(struct perfetto *p, const struct hodo_slice *slice, const struct hodo_track *thread, int64_t ts_ns,
		     const struct perfetto_class *k)
{
	perfetto_event(p, INSTANT, ts_ns, perfetto_uuid(thread), k);
	set_flow(p, slice);
	perfetto_event_put(p);
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct perfetto *p = data;
	const struct perfetto_class *k = slice->cls ? perfetto_class(p, slice->cls) : NULL;
	struct perfetto_lane *lane = NULL;

	if (slice->kind == HODO_SLICE_ASYNC) {
		slice->user = lane = perfetto_lane_take(p, slice->track);
		if (!lane)
			return p->e->out->error;
		put_flow(p, slice, slice->began_on, slice->begin_ns, k);
	}
	perfetto_event(p, BEGIN, slice->begin_ns, lane ? lane->uuid : perfetto_uuid(slice->track), k);
	perfetto_event_name(p, slice->name, slice->kind == HODO_SLICE_CALL    ? "func" :
					    slice->kind == HODO_SLICE_RUNNING ? "sched" : NULL);
	if (lane)
		set_flow(p, slice);
	if (event && slice->kind != HODO_SLICE_CALL)
		perfetto_notes(p, event);
	if (slice->flags & HODO_SLICE_CONTINUED)
		perfetto_note_bool(p, "continued");
	if (slice->kind == HODO_SLICE_RUNNING) {
		perfetto_note_number(p, "pid", slice->pid);
		perfetto_note_number(p, "tid", slice->id);
	}
	perfetto_event_put(p);
	return p->e->out->error;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct perfetto *p = data;
	struct perfetto_lane *lane = slice->user;

	/* A slice without an end is drawn to the trace's end. */
	if (slice->flags & HODO_SLICE_OPEN && !lane)
		return 0;
	perfetto_event(p, END, slice->end_ns, lane ? lane->uuid : perfetto_uuid(slice->track), NULL);
	if (event && slice->kind != HODO_SLICE_CALL)
		perfetto_notes(p, event);
	if (slice->flags & HODO_SLICE_LEFT)
		perfetto_note_bool(p, "left");
	if (slice->flags & HODO_SLICE_END_LOST)
		perfetto_note_bool(p, hodo_slice_end_lost(slice));
	if (slice->flags & HODO_SLICE_OPEN)
		perfetto_note_bool(p, "unfinished");
	if (slice->kind == HODO_SLICE_RUNNING)
		perfetto_note(p, "why it ended")->string_value =
			(char *)(uintptr_t)hodo_sched_why_text(slice->sched_why);
	perfetto_event_put(p);
	if (lane)
		perfetto_lane_give(slice->track, lane);
	if (lane && slice->ended_on)
		put_flow(p, slice, slice->ended_on, slice->end_ns, perfetto_class(p, event->cls));
	return p->e->out->error;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct perfetto *p = data;

	perfetto_event(p, INSTANT, event->ts_ns, perfetto_uuid(track), perfetto_class(p, event->cls));
	perfetto_notes(p, event);
	perfetto_event_put(p);
	return p->e->out->error;
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct perfetto *p = data;
	const struct hodo_read_value *v = event->values;

	perfetto_event(p, COUNTER, event->ts_ns, perfetto_uuid(track), NULL);
	/* A whole number stays exact. */
	if (v->type < HODO_TYPE_F32 && (v->u <= INT64_MAX || value < 0))
		PERFETTO_SET(p->event, counter_value, v->i);
	else
		PERFETTO_SET(p->event, double_counter_value, value);
	perfetto_event_put(p);
	return p->e->out->error;
}

/* Where events are missing: a slice on a track of their stream. */
static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	const struct {
		const char *name;
		uint64_t n;
	} losses[] = { { "discarded", loss->discarded }, { "overwritten", loss->overwritten },
		       { "damaged", loss->damaged } };
	struct perfetto *p = data;
	uint64_t track = perfetto_loss_track(p, loss);
	int64_t from_ns = loss->from_ns;

	/* They follow each other, whatever a damaged stream says. */
	if (p->loss_stream == loss->stream && from_ns < p->loss_ns)
		from_ns = p->loss_ns;
	p->loss_stream = loss->stream;
	p->loss_ns = loss->until_ns > from_ns ? loss->until_ns : from_ns;
	perfetto_event(p, BEGIN, from_ns, track, NULL);
	perfetto_event_name(p, "lost events", "lost");
	for (unsigned i = 0; i < 3; i++)
		if (losses[i].n)
			perfetto_note_number(p, losses[i].name, losses[i].n);
	perfetto_event_put(p);
	perfetto_event(p, END, p->loss_ns, track, NULL);
	perfetto_event_put(p);
	return p->e->out->error;
}

static int open_perfetto(void *state, struct hodo_export *e)
{
	struct perfetto *p = state;

	p->e = e;
	p->classes = (struct hodo_map)HODO_MAP(struct perfetto_class, address);
	p->tracks = (struct hodo_map)HODO_MAP(struct perfetto_track, key);
	begin_trace(p);
	return e->out->error;
}

static void free_perfetto(void *state)
{
	struct perfetto *p = state;

	for (unsigned i = 0; i < PERFETTO_SORTS; i++)
		hodo_strings_free(&p->names[i]);
	hodo_map_free(&p->classes);
	hodo_map_free(&p->tracks);
	hodo_arena_free(&p->lanes);
	hodo_arena_free(&p->texts);
}

const struct hodo_export_format hodo_export_perfetto = {
	.name = "perfetto",
	.suffix = "pftrace",
	.does = "a timeline: https://ui.perfetto.dev, trace_processor",
	.binary = true,
	.state_bytes = sizeof(struct perfetto),
	.open = open_perfetto,
	.timeline = { .track = on_track, .begin = on_begin, .end = on_end, .instant = on_instant,
		      .counter = on_counter, .loss = on_loss },
	.free = free_perfetto,
};
