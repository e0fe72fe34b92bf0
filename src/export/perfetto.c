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
#include <stdlib.h>
#include <string.h>

#define SEQUENCE         1u
#define STATE_BEGINS     1u /* bits of sequence_flags */
#define STATE_NEEDED     2u
#define CLOCK_REAL       1u
#define CLOCK_BOOT       6u
#define PACKET_HEAD_ROOM 11u /* tag and length of a packet in the trace */
#define NO_LANE          UINT32_MAX

/* -------------------------------------------------------------------------- packets */

int perfetto_put(struct perfetto *p, Perfetto__TracePacket *packet)
{
	size_t len, head = 0;
	uint8_t *o;

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = 1;
	packet->sequence_flags = p->begun ? STATE_NEEDED : STATE_BEGINS;
	p->begun = true;
	len = protobuf_c_message_get_packed_size(&packet->base);
	o = (uint8_t *)hodo_export_room(p->e->out, len + PACKET_HEAD_ROOM);
	if (!o)
		return p->e->out->error;
	o[head++] = 1 << 3 | 2; /* Trace.packet */
	for (size_t n = len; ; n >>= 7) {
		o[head++] = (uint8_t)(n < 0x80 ? n : (n & 0x7f) | 0x80);
		if (n < 0x80)
			break;
	}
	protobuf_c_message_pack(&packet->base, o + head);
	hodo_export_took(p->e->out, head + len);
	return 0;
}

int perfetto_scratch(struct perfetto *p, size_t len)
{
	p->len = 0;
	if (p->room < len) {
		char *more = realloc(p->scratch, len + len / 2 + 4096);

		if (!more)
			return -ENOMEM;
		p->scratch = more;
		p->room = len + len / 2 + 4096;
	}
	return 0;
}

char *perfetto_text(struct perfetto *p, const char *s, size_t len)
{
	const uint8_t *in = (const uint8_t *)s, *end = in + len;
	char *text = p->scratch + p->len, *o = text;

	while (in < end) {
		unsigned n = *in < 0x80 ? 1 : hodo_read_utf8(in, end);

		if (n == 1) {
			*o++ = (char)*in++;
		} else if (n == 0) { /* the character of that number */
			*o++ = (char)(0xc0 | *in >> 6);
			*o++ = (char)(0x80 | (*in++ & 0x3f));
		} else {
			memcpy(o, in, n);
			o += n;
			in += n;
		}
	}
	*o++ = 0;
	p->len += (size_t)(o - text);
	return text;
}

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

/* --------------------------------------------------------------------------- events */

int perfetto_point(struct perfetto *p, const struct perfetto_point *point)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = point->category, flow = point->flow;

	packet.has_timestamp = 1;
	packet.timestamp = point->ts_ns > 0 ? (uint64_t)point->ts_ns : 0;
	packet.track_event = &event;
	event.has_type = 1;
	event.type = point->type;
	event.has_track_uuid = 1;
	event.track_uuid = point->track;
	event.has_name_iid = point->name != 0;
	event.name_iid = point->name;
	event.n_category_iids = category != 0;
	event.category_iids = &category;
	event.has_source_location_iid = point->location != 0;
	event.source_location_iid = point->location;
	event.n_debug_annotations = p->n;
	event.debug_annotations = p->note_list;
	if (flow && point->flow_ends) {
		event.n_terminating_flow_ids = 1;
		event.terminating_flow_ids = &flow;
	} else if (flow) {
		event.n_flow_ids = 1;
		event.flow_ids = &flow;
	}
	p->n = 0;
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
	int err = perfetto_thread(p, event->process, event->pid, event->tid, event->comm, &point.track);

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

static int run(struct hodo_export *e)
{
	static const struct hodo_story_ops ops = { .track = on_track, .begin = on_begin, .end = on_end,
						   .instant = on_instant, .counter = on_counter };
	struct perfetto p = { .e = e, .text = hodo_read_text_new(), .c = newlocale(LC_ALL_MASK, "C", (locale_t)0) };
	struct hodo_story *story = hodo_story_new(e->reader, e->symbols, &ops, &p);
	int err = p.text && p.c && story ? begin_trace(&p) : -ENOMEM;

	if (!err)
		err = perfetto_names(&p);
	if (!err)
		err = perfetto_processes(&p);
	if (!err)
		err = perfetto_losses(&p);
	if (!err)
		err = hodo_story_read(story);
	hodo_story_free(story);
	hodo_pointer_map_free(&p.classes, free);
	hodo_pointer_map_free(&p.names, NULL);
	hodo_pointer_map_free(&p.processes, NULL);
	hodo_pointer_map_free(&p.tracks, NULL);
	perfetto_lanes_free(&p);
	if (p.c)
		freelocale(p.c);
	hodo_read_text_free(p.text);
	free(p.scratch);
	return err;
}

const struct hodo_export_format hodo_export_perfetto = {
	.name = "perfetto",
	.suffix = "pftrace",
	.does = "a timeline: https://ui.perfetto.dev, trace_processor",
	.binary = true,
	.run = run,
};
