/* SPDX-License-Identifier: MIT */
/*
 * otlp.c - a recording as OpenTelemetry's spans and metrics (docs/design/otlp.md).
 *
 * A span is packed piece by piece: at its start what is known then, then each event inside of it, at last its end; so
 * what is open takes bytes and no structs, and all of them together are bounded.
 */
#define _GNU_SOURCE
#include "otlp_impl.h"

#include <base/quantity.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVELS_MAX 256u /* of the spans around one, in which its parent is looked for */

struct otlp_span {
	struct otlp_ids ids;
	uint64_t parent; /* its id; 0: it has none */
	bool given, remote; /* the ids are the program's; the parent is none of this thread */
	struct otlp_span *next; /* of free ones */
	struct hodo_text packed;
	uint32_t events, dropped_events, dropped_attributes;
};

/* Of a track. */
struct otlp_thread {
	struct otlp_span *top;
	uint64_t last; /* when its last span began */
	uint32_t same; /* how many began at the time `last` before that span */
};

/* A slice that is in pieces, between two of them. */
struct split {
	uint64_t slice; /* its address */
	struct otlp_span *span;
};

struct otlp {
	struct hodo_export *e;
	struct otlp_batch traces, metrics;
	struct otlp_attributes attributes;
	struct hodo_map split;
	struct hodo_arena memory; /* of spans and threads */
	struct otlp_span *free;
	uint64_t open_bytes;
	uint64_t service; /* a hash of its name */
	uint64_t outside, calls; /* events and calls that are in no span, and so left out */
};

/* -------------------------------------------------------------------------- spans */

static struct otlp_span *span_new(struct otlp *o)
{
	struct otlp_span *span = o->free;

	if (span)
		o->free = span->next;
	else
		span = hodo_arena_alloc(&o->memory, sizeof(*span));
	if (span)
		*span = (struct otlp_span){ 0 };
	else
		hodo_text_fail(o->e->out, -ENOMEM);
	return span;
}

static void span_free(struct otlp *o, struct otlp_span *span)
{
	hodo_text_free(&span->packed);
	span->next = o->free;
	o->free = span;
}

/* The span around a slice of a thread; NULL: there is none. */
static struct otlp_span *around(const struct hodo_slice *slice)
{
	for (slice = slice->parent; slice; slice = slice->parent)
		if (slice->user)
			return slice->user;
	return NULL;
}

/* Of a thread, which has begun another span. */
static uint32_t same_time(struct otlp_thread *t, uint64_t ticks)
{
	t->same = t->last == ticks ? t->same + 1 : 0;
	t->last = ticks;
	return t->same;
}

/* Whether a span around the slice on its thread has this id. */
static bool is_inside(const struct hodo_slice *slice, uint64_t id)
{
	slice = slice->parent;
	for (unsigned i = 0; slice && i < LEVELS_MAX; slice = slice->parent, i++)
		if (slice->user && ((const struct otlp_span *)slice->user)->ids.span == id)
			return true;
	return false;
}

static bool is_same_trace(const struct otlp_span *a, const struct otlp_span *b)
{
	return a->ids.trace[0] == b->ids.trace[0] && a->ids.trace[1] == b->ids.trace[1];
}

static void set_ids(struct otlp_span *span, const struct otlp_span *parent, const struct hodo_track *thread,
		    const struct hodo_slice *slice, const struct hodo_read_event *event)
{
	uint64_t begin = event ? event->ticks : (uint64_t)slice->begin_ns;
	uint32_t same = same_time(thread->user, begin);
	uint64_t id[3];

	span->given = event && otlp_context(event, &span->ids, &span->parent);
	if (span->given) {
		span->remote = span->parent && !is_inside(slice, span->parent);
		/* The program knows nothing of spans without a context in between. */
		if (parent && span->parent && !span->remote && is_same_trace(span, parent))
			span->parent = parent->ids.span;
		return;
	}
	for (uint32_t i = 0; i < 3; i++)
		id[i] = otlp_id(thread->process, thread->tid, begin, same, i);
	span->ids = (struct otlp_ids){ { id[0], id[1] }, id[2] };
	if (parent)
		memcpy(span->ids.trace, parent->ids.trace, sizeof(span->ids.trace));
	span->parent = parent ? parent->ids.span : 0;
}

/* What has been added is too much: it is taken away again. Bytes of o->open_bytes are the caller's. */
static bool too_much(const struct otlp *o, const struct otlp_span *span, size_t before)
{
	return span->packed.len > OTLP_SPAN_MAX || o->open_bytes + span->packed.len - before > OTLP_OPEN_MAX;
}

/* The attributes that have been gathered, as a piece of the span. */
static void put_attributes(struct otlp *o, struct otlp_span *span)
{
	Otlp__Span piece = OTLP__SPAN__INIT;
	size_t before = span->packed.len;

	piece.n_attributes = o->attributes.n;
	piece.attributes = o->attributes.list;
	otlp_put(&span->packed, &piece.base);
	if (too_much(o, span, before)) {
		span->packed.len = before;
		span->dropped_attributes += (uint32_t)o->attributes.n;
	}
	o->open_bytes += span->packed.len - before;
}

static void put_begin(struct otlp *o, struct otlp_span *span, const struct hodo_slice *slice,
		      const struct hodo_read_event *event)
{
	Otlp__Span piece = OTLP__SPAN__INIT;
	uint8_t trace[16], id[8], parent_id[8];

	otlp_attributes_begin(&o->attributes, o->e);
	otlp_id_bytes(trace, span->ids.trace[0]);
	otlp_id_bytes(trace + 8, span->ids.trace[1]);
	otlp_id_bytes(id, span->ids.span);
	OTLP_SET(piece, trace_id, ((ProtobufCBinaryData){ 16, trace }));
	OTLP_SET(piece, span_id, ((ProtobufCBinaryData){ 8, id }));
	if (span->parent) {
		otlp_id_bytes(parent_id, span->parent);
		OTLP_SET(piece, parent_span_id, ((ProtobufCBinaryData){ 8, parent_id }));
	}
	piece.name = otlp_text(&o->attributes, slice->name, strlen(slice->name));
	OTLP_SET(piece, kind, span->remote ? OTLP__SPAN__KIND__SPAN_KIND_SERVER
					   : OTLP__SPAN__KIND__SPAN_KIND_INTERNAL);
	OTLP_SET(piece, start_time_unix_nano, (uint64_t)slice->begin_ns);
	/* Sampled; whether the parent is remote is known; it is. */
	OTLP_SET(piece, flags, span->remote ? 0x301 : 0x101);
	otlp_put(&span->packed, &piece.base);
	o->open_bytes += span->packed.len;
	if (!event)
		return;
	otlp_attributes_begin(&o->attributes, o->e);
	otlp_add_number(&o->attributes, "thread.id", event->tid);
	otlp_add_text(&o->attributes, "thread.name", event->comm, strlen(event->comm));
	if (event->cls->file[0]) {
		otlp_add_text(&o->attributes, "code.file.path", event->cls->file, strlen(event->cls->file));
		otlp_add_number(&o->attributes, "code.line.number", event->cls->line);
	}
	put_attributes(o, span);
	otlp_attributes_begin(&o->attributes, o->e);
	otlp_add_event(&o->attributes, event, span->given ? OTLP_CONTEXT_FIELDS : 0, NULL);
	put_attributes(o, span);
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct otlp *o = data;
	bool async = slice->kind == HODO_SLICE_ASYNC;
	const struct hodo_track *thread = async ? slice->began_on : slice->track;
	struct otlp_thread *t = thread->user;
	struct split *split;
	struct otlp_span *span, *parent;

	if (slice->kind != HODO_SLICE_SPAN && !async) {
		o->calls += slice->kind == HODO_SLICE_CALL && !(slice->flags & HODO_SLICE_CONTINUED);
		return 0;
	}
	if (slice->flags & HODO_SLICE_CONTINUED) {
		split = hodo_map_find_u64(&o->split, (uintptr_t)slice);
		slice->user = split ? split->span : NULL;
		if (split)
			hodo_map_remove(&o->split, split);
		t->top = slice->user ? slice->user : t->top;
		return 0;
	}
	span = span_new(o);
	if (!span)
		return -ENOMEM;
	parent = t->top;
	set_ids(span, parent, thread, slice, event);
	put_begin(o, span, slice, event);
	slice->user = span;
	if (!async)
		t->top = span;
	return o->e->out->error;
}

static const char *how_ended(uint32_t flags)
{
	return flags & HODO_SLICE_OPEN ? "open" : flags & HODO_SLICE_LEFT ? "left"
						: flags & HODO_SLICE_END_LOST ? "end_lost" : NULL;
}

static void put_end(struct otlp *o, struct otlp_span *span, const struct hodo_slice *slice,
		    const struct hodo_read_event *event)
{
	bool async = slice->kind == HODO_SLICE_ASYNC;
	const char *how = how_ended(slice->flags);
	Otlp__Span piece = OTLP__SPAN__INIT;

	otlp_attributes_begin(&o->attributes, o->e);
	if (event && event->cls->role != HODO_READ_ROLE_CALL_EXIT)
		otlp_add_event(&o->attributes, event, async, slice->cls);
	if (how)
		otlp_add_text(&o->attributes, "hodo.end", how, strlen(how));
	put_attributes(o, span);
	OTLP_SET(piece, end_time_unix_nano, (uint64_t)slice->end_ns);
	if (span->dropped_attributes)
		OTLP_SET(piece, dropped_attributes_count, span->dropped_attributes);
	if (span->dropped_events)
		OTLP_SET(piece, dropped_events_count, span->dropped_events);
	otlp_put(&o->traces.bytes, &piece.base);
}

/* One that is sent as open is another one when its end is known. */
static uint64_t key_of_span(const struct otlp *o, const struct otlp_span *span, const struct hodo_slice *slice)
{
	uint64_t how = slice->flags & (HODO_SLICE_OPEN | HODO_SLICE_LEFT | HODO_SLICE_END_LOST);

	return otlp_fold(o->service + how, &span->ids, sizeof(span->ids));
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct otlp *o = data;
	bool async = slice->kind == HODO_SLICE_ASYNC;
	struct otlp_thread *t = slice->track->user;
	struct otlp_item item = { .process = slice->track->process, .at = o->traces.bytes.len };
	struct otlp_span *span = slice->user;
	struct split *split;
	uint64_t packed;

	if (!span)
		return 0;
	if (!async)
		t->top = around(slice);
	if (slice->flags & HODO_SLICE_SPLIT) {
		split = hodo_map_add_u64(&o->split, (uintptr_t)slice, NULL);
		if (split)
			split->span = span;
		return split ? 0 : -ENOMEM;
	}
	hodo_text_bytes(&o->traces.bytes, span->packed.data, span->packed.len);
	packed = span->packed.len;
	put_end(o, span, slice, event);
	/* What the end added stands behind what was there already. */
	hodo_text_bytes(&o->traces.bytes, span->packed.data + packed, span->packed.len - packed);
	item.key = key_of_span(o, span, slice);
	o->open_bytes -= span->packed.len;
	hodo_text_fail(&o->traces.bytes, span->packed.error);
	span_free(o, span);
	slice->user = NULL;
	return otlp_batch_add(&o->traces, o->e, &item);
}

/* -------------------------------------------------------------------------- events */

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct otlp *o = data;
	struct otlp_span *span = ((struct otlp_thread *)track->user)->top;
	Otlp__Event made = OTLP__EVENT__INIT;
	const char *name = event->cls->name;
	size_t before;

	if (!span) {
		o->outside++;
		return 0;
	}
	if (span->events == OTLP_EVENTS_MAX) {
		span->dropped_events++;
		return 0;
	}
	otlp_attributes_begin(&o->attributes, o->e);
	otlp_add_event(&o->attributes, event, 0, NULL);
	made.name = otlp_text(&o->attributes, name, strlen(name));
	OTLP_SET(made, time_unix_nano, (uint64_t)event->ts_ns);
	made.n_attributes = o->attributes.n;
	made.attributes = o->attributes.list;
	before = span->packed.len;
	otlp_put_message(&span->packed, 11, &made.base);
	span->events++;
	if (too_much(o, span, before)) {
		span->packed.len = before;
		span->events--;
		span->dropped_events++;
	}
	o->open_bytes += span->packed.len - before;
	return o->e->out->error;
}

/* Two of one thread at the same tick with the same value are the same point. */
static uint64_t key_of_value(const struct otlp *o, const struct hodo_read_event *event, double value)
{
	const struct {
		uint64_t ticks;
		double value;
		uint32_t tid;
		int32_t cpu;
	} key = { event->ticks, value, event->tid, event->cpu };
	uint64_t h = otlp_fold(o->service, event->process->uuid, sizeof(event->process->uuid));

	h = otlp_fold(h, event->cls->base, strlen(event->cls->base));
	return otlp_fold(h, &key, sizeof(key));
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct otlp *o = data;
	const struct hodo_read_value *v = &event->values[0];
	/* The base name is the reader's, and outlives the timeline. */
	struct otlp_item item = { .process = track->process, .name = event->cls->base, .at = o->metrics.bytes.len,
				  .key = key_of_value(o, event, value) };
	Otlp__NumberDataPoint point = OTLP__NUMBER_DATA_POINT__INIT;

	OTLP_SET(point, time_unix_nano, (uint64_t)event->ts_ns);
	if (v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64 || v->type >= HODO_TYPE_STR ||
	    (v->type == HODO_TYPE_U64 && v->u > INT64_MAX))
		OTLP_SET(point, as_double, value);
	else
		OTLP_SET(point, as_int, v->i);
	otlp_put(&o->metrics.bytes, &point.base);
	return otlp_batch_add(&o->metrics, o->e, &item);
}

/* -------------------------------------------------------------------------- format */

static int on_track(void *data, struct hodo_track *track)
{
	struct otlp *o = data;

	if (track->kind == HODO_TRACK_THREAD || track->kind == HODO_TRACK_ASYNC)
		track->user = hodo_arena_zero(&o->memory, sizeof(struct otlp_thread));
	return track->user || track->kind == HODO_TRACK_COUNTER || track->kind == HODO_TRACK_CPU ? 0 : -ENOMEM;
}

static int open_otlp(void *state, struct hodo_export *e)
{
	struct otlp *o = state;

	o->e = e;
	o->metrics.metrics = true;
	if (e->otlp->service)
		o->service = otlp_fold(1, e->otlp->service, strlen(e->otlp->service));
	o->split = (struct hodo_map)HODO_MAP(struct split, slice);
	return 0;
}

int otlp_flush(void *state, struct hodo_export *e)
{
	struct otlp *o = state;
	int err = otlp_batch_send(&o->traces, e);

	return err ? err : otlp_batch_send(&o->metrics, e);
}

static void warn_left_out(struct hodo_export *e, uint64_t n, const char *one, const char *many, const char *format)
{
	char text[192], digits[32];

	snprintf(text, sizeof(text), "%s %s left out: --to %s has %s", hodo_grouped(n, digits), n == 1 ? one : many,
		 format, n == 1 ? "it" : "them");
	e->warn(text);
}

static int end_otlp(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct otlp *o = state;
	int err = otlp_flush(o, e);

	if (!err && o->outside)
		warn_left_out(e, o->outside, "event that is inside of no span of its thread is",
			      "events that are inside of no span of their thread are", "jsonl");
	if (!err && o->calls)
		warn_left_out(e, o->calls, "call of a function is", "calls of functions are", "perfetto");
	return err;
}

static void free_otlp(void *state)
{
	struct otlp *o = state;

	otlp_batch_free(&o->traces);
	otlp_batch_free(&o->metrics);
	otlp_attributes_free(&o->attributes);
	hodo_map_free(&o->split);
	hodo_arena_free(&o->memory);
}

const struct hodo_export_format hodo_export_otlp = {
	.name = "otlp",
	.suffix = "otlp.json",
	.does = "OpenTelemetry: spans and metrics, to a collector or as JSON",
	.state_bytes = sizeof(struct otlp),
	.open = open_otlp,
	.timeline = { .track = on_track, .begin = on_begin, .end = on_end, .instant = on_instant,
		      .counter = on_counter },
	.write = end_otlp,
	.free = free_otlp,
};
