/* SPDX-License-Identifier: MIT */
/*
 * order.c - events of all streams in time order.
 *
 * A binary heap of streams, each with its next event. A stream is represented by the start of its first
 * packet until that time comes; only then is it opened, and it frees its memory at its end. So a recording of
 * ten thousand processes that ran one after the other needs little memory and only one descriptor.
 */
#include "order.h"
#include "spans.h"
#include "threads.h"

#include <read/file/class.h>
#include <read/file/layout.h>
#include <read/file/load.h>
#include <read/file/reader.h>
#include <read/file/stream.h>

#include <errno.h>
#include <stdio.h>

#define WINDOW_BYTES      (256u << 10)
#define WINDOW_BYTES_MANY (64u << 10)
#define MANY_STREAMS      64u
#define BEGINS_NS         1000000000ll /* before since_ns, in which start events are searched */

/* ------------------------------------------------------------------- one stream */

/* From when on events are read: before since_ns, for start events whose ends come later. */
static int64_t reads_from_ns(const struct hodo_read *r)
{
	return r->begins && r->since_ns > INT64_MIN + BEGINS_NS ? r->since_ns - BEGINS_NS : r->since_ns;
}

/* What was lost after the last packet is known when no other can come. */
static int stream_ends(struct hodo_stream *s)
{
	return s->trace->reader->goes_on ? 0 : hodo_losses_stream_ends(s);
}

/* Steps to the next wanted packet. 1, 0 at the end of the stream, negative errno. */
static __attribute__((noinline)) int next_packet(struct hodo_stream *s)
{
	int got, err = 0;

	do {
		if (s->pub.packets > 0)
			err = hodo_losses_learn_end(s);
		if (s->pub.packets > 0 && !s->skip)
			hodo_read_stream_packet_end(s);
		got = hodo_read_stream_packet(s);
		s->skip = s->time_limit != UINT64_MAX && s->pub.end_ns < reads_from_ns(s->trace->reader);
		if (!err && got >= 0)
			err = got > 0 ? hodo_losses_learn(s) : stream_ends(s);
	} while (!err && got > 0 && s->skip);
	return err ? err : got;
}

/* Takes the complete record of size bytes at s->p. False: not an event. */
static inline bool take(struct hodo_stream *s, size_t size)
{
	const uint8_t *p = s->p;
	uint64_t word = size >= sizeof(word) ? load64(p) : load32(p) | (uint64_t)load16(p + 4) << 32;
	uint64_t form = word & HODO_FORM_MASK, time = hodo_cursor_time(&s->cursor, word);

	s->p += size;
	if (__builtin_expect(form == HODO_FORM_ANCHOR, 0))
		time = word & ~3ull;
	if (__builtin_expect(time > s->time_limit || time < s->cursor.time, 0)) {
		if (form == HODO_FORM_ANCHOR) /* the thread of the next events is not known */
			s->cursor.anchored = false;
		hodo_read_stream_warn(s, WARN_TIME, "an event outside its packet's time at byte %llu: skipped",
				      hodo_read_stream_place(s, hodo_read_stream_offset(s, p)));
		return false;
	}
	if (__builtin_expect(form == HODO_FORM_ANCHOR, 0)) {
		hodo_cursor_anchor(&s->cursor, word, load64(p + 8));
		return false;
	}
	if (__builtin_expect(!s->cursor.anchored, 0)) {
		hodo_read_stream_warn(s, WARN_EVENT, "an event without a thread at byte %llu: skipped",
				      hodo_read_stream_place(s, hodo_read_stream_offset(s, p)));
		return false;
	}
	s->packet_events++;
	s->cursor.time = time;
	s->event = p;
	s->event_ticks = time;
	s->event_tid = s->cursor.tid;
	s->event_bytes = (uint32_t)size;
	if (form == HODO_FORM_EVENT) {
		s->event_id = hodo_event_id(word);
	} else {
		s->event_id = s->trace->layouts->call[form];
		s->call.addr = word; /* until it is given */
		s->call.frame = HODO_FRAME32(hodo_cursor_frame(&s->cursor, word));
	}
	s->event_ns = hodo_read_clock_near_ns(&s->near, &s->trace->pub.clock, time);
	return true;
}

/* Finds the stream's next event. 1, 0 at its end, or a negative errno. */
static int advance(struct hodo_stream *s)
{
	for (;;) {
		size_t room = (size_t)(s->avail - s->p), size = hodo_layouts_size_at(s->trace->layouts, s->p, room);

		if (__builtin_expect(size == 0 || size > room, 0)) {
			int got = hodo_read_stream_event(s);

			if (got == 0)
				got = next_packet(s);
			if (got <= 0)
				return got;
			continue;
		}
		if (take(s, size))
			return 1;
	}
}

/* ---------------------------------------------------------------------- the heap */

static inline bool before(const struct hodo_stream *a, const struct hodo_stream *b)
{
	return a->event_ns != b->event_ns ? a->event_ns < b->event_ns : a->order < b->order;
}

static void sift_down(struct hodo_read *r, uint32_t i)
{
	struct hodo_stream *s = r->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= r->heap_n)
			break;
		if (child + 1 < r->heap_n && before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!before(r->heap[child], s))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = s;
}

void hodo_read_heap_settle(struct hodo_read *r)
{
	for (uint32_t i = r->heap_n / 2; i-- > 0;)
		sift_down(r, i);
}

static __attribute__((noinline)) void start(struct hodo_read *r)
{
	size_t window = r->nstreams > MANY_STREAMS ? WINDOW_BYTES_MANY : WINDOW_BYTES;
	int err = 0;

	r->heap_n = 0;
	for (uint32_t i = 0; i < r->ntraces && !err; i++) {
		hodo_read_names_clear(&r->traces[i]->names);
		r->traces[i]->losses.n = 0;
		for (uint32_t k = 0; k < r->traces[i]->nstreams && !r->traces[i]->left_out; k++) {
			struct hodo_stream *s = r->traces[i]->streams[k];

			hodo_read_stream_start(s, window, false);
			err = err ? err : hodo_losses_stream_begins(s);
			hodo_read_clock_near_set(&s->near, &s->trace->pub.clock, 0);
			s->event_ns = s->has_begin ? s->pub.begin_ns : INT64_MIN;
			r->heap[r->heap_n++] = s;
		}
	}
	hodo_read_heap_settle(r);
	r->running = true;
	r->given = NULL;
	r->failed = err;
}

/* Advances the stream at the top to its next event, or removes it. 0 or a negative errno. */
static int step_top(struct hodo_read *r)
{
	struct hodo_stream *s = r->heap[0];
	int got = advance(s);

	s->started = true;
	if (got < 0)
		return got;
	if (got == 0) {
		if (r->goes_on)
			hodo_read_stream_rest(s);
		else
			hodo_read_stream_finish(s);
		r->heap[0] = r->heap[--r->heap_n];
	}
	if (r->heap_n > 0)
		sift_down(r, 0);
	return 0;
}

/* Beyond until_ns, only the streams' figures are wanted. */
static int drain(struct hodo_read *r)
{
	for (uint32_t i = 0; i < r->heap_n; i++) {
		struct hodo_stream *s = r->heap[i];
		int got;

		while ((got = hodo_read_stream_packet(s)) > 0)
			;
		if (got < 0)
			return got;
		hodo_read_stream_finish(s);
	}
	r->heap_n = 0;
	return 0;
}

/* What stands before the fields. */
static void give_context(struct hodo_read *r, struct hodo_read_event *e)
{
	const uint8_t *p = e->payload;

	for (uint32_t i = 0; i < e->cls->ncontext; i++)
		p = hodo_read_value_take(e->cls->context[i].type, p, &r->context[i]);
	e->payload_bytes -= (uint32_t)(p - (const uint8_t *)e->payload);
	e->payload = p;
	e->context = r->context;
}

/* The event's thread. Each CPU has its own thread 0. */
static void name_thread(struct hodo_stream *s, uint32_t tid)
{
	const struct hodo_read_process *p = &s->trace->pub;
	const struct hodo_known_thread *known = hodo_read_known_thread(&s->trace->names, p, tid);

	s->pid = p->kernel ? known->pid : p->pid;
	s->comm = known->comm;
	if (s->comm)
		return;
	s->comm = !p->kernel ? p->comm : tid ? "?" : s->idle;
	snprintf(s->idle, sizeof(s->idle), s->pub.cpu < 0 ? "swapper" : "swapper/%d", s->pub.cpu);
}

static inline void give_thread(struct hodo_read_event *e, struct hodo_stream *s)
{
	uint64_t known_as = (uint64_t)s->trace->names.changes << 32 | e->tid;

	if (known_as != s->known_as) {
		name_thread(s, e->tid);
		s->known_as = known_as;
	}
	e->pid = s->pid;
	e->comm = s->comm;
}

/* The fields of an event that has a context, or names of threads in its fields. 0 or -ENOMEM. */
static int give_more(struct hodo_read *r, struct hodo_stream *s, const struct hodo_class *c)
{
	struct hodo_thread_names *names = &s->trace->names;
	struct hodo_read_event *e = &r->event;
	int err = 0;

	if (c->pub.ncontext)
		give_context(r, e);
	hodo_read_class_values(c, e->payload, r->values);
	if (!c->renames)
		err = hodo_read_names_learn(names, e->process, c, r->values);
	give_thread(e, s);
	return c->renames ? hodo_read_names_learn(names, e->process, c, r->values) : err;
}

/* 0 or -ENOMEM. */
static inline int give(struct hodo_read *r, struct hodo_stream *s)
{
	struct hodo_read_event *e = &r->event;
	struct hodo_class *c = s->trace->by_id[s->event_id];

	e->ts_ns = s->event_ns;
	e->ticks = s->event_ticks;
	e->cpu = s->pub.cpu;
	e->tid = s->event_tid;
	e->cls = &c->pub;
	e->process = &s->trace->pub;
	e->stream = &s->pub;
	if ((s->event[0] & HODO_FORM_MASK) == HODO_FORM_EVENT) {
		e->payload = s->event + HODO_EVENT_HEADER;
		e->payload_bytes = s->event_bytes - HODO_EVENT_HEADER;
	} else {
		s->call.addr = hodo_read_shorts_address(&s->trace->shorts, hodo_call_function(s->call.addr), e->ticks);
		e->payload = (const uint8_t *)&s->call;
		e->payload_bytes = sizeof(s->call);
	}
	r->given = s;
	if (__builtin_expect(c->more, 0))
		return give_more(r, s, c);
	hodo_read_class_values(c, e->payload, r->values);
	give_thread(e, s);
	return 0;
}

/* Finds the next event. 1, 0 at the end, or a negative errno. */
static int find_next(struct hodo_read *r)
{
	int err = 0;

	if (!r->running)
		start(r);
	if (r->failed)
		return r->failed;
	if (r->given)
		err = step_top(r);
	r->given = NULL;
	while (!err && r->heap_n > 0 && r->heap[0]->event_ns < r->upto_ns) {
		struct hodo_stream *s = r->heap[0];

		if (s->event_ns >= r->until_ns) {
			err = drain(r);
		} else if (!s->started || s->event_ns < reads_from_ns(r)) {
			err = step_top(r);
		} else {
			err = give(r, s);
			if (!err && r->spans)
				err = hodo_spans_event(r->spans, &r->event, r->begins);
			if (!err && s->event_ns >= r->since_ns)
				return 1;
			err = err ? err : step_top(r);
			r->given = NULL;
		}
	}
	r->failed = err;
	return err;
}

/* ---------------------------------------------------------------------- a choice */

/* Reads all events, to find out which begins have ends that are taken. 0 or a negative errno. */
static int learn(struct hodo_read *r)
{
	int got, err = 0;

	while (!err && (got = find_next(r)) > 0) {
		int taken = r->takes(r->takes_data, &r->event);

		err = taken < 0 ? taken : hodo_spans_learn(r->spans, &r->event, taken);
	}
	err = err ? err : got;
	hodo_read_rewind(r);
	r->learned = true;
	return err;
}

/* Whether the event is taken, or a negative errno. */
static int is_taken(struct hodo_read *r)
{
	int taken = r->takes ? r->takes(r->takes_data, &r->event) : true;

	return taken >= 0 && r->whole ? hodo_spans_take(r->spans, taken) : taken;
}

int hodo_read_next(struct hodo_read *reader, const struct hodo_read_event **event)
{
	struct hodo_read *r = reader;
	int got = r->whole && !r->learned ? learn(r) : 0, taken = 0;

	*event = NULL;
	while (got >= 0 && !taken) {
		got = find_next(r);
		if (got == 0)
			return 0;
		taken = got < 0 ? 0 : is_taken(r);
		got = taken < 0 ? taken : got;
	}
	if (got < 0) {
		r->failed = got;
		return got;
	}
	*event = &r->event;
	return 1;
}

void hodo_read_rewind(struct hodo_read *reader)
{
	for (uint32_t i = 0; i < reader->ntraces; i++)
		for (uint32_t k = 0; k < reader->traces[i]->nstreams; k++)
			hodo_read_stream_finish(reader->traces[i]->streams[k]);
	if (reader->spans)
		hodo_spans_rewind(reader->spans);
	reader->event.begin = NULL;
	reader->event.off_cpu = NULL;
	reader->running = false;
	reader->given = NULL;
	reader->failed = 0;
}

int hodo_read_each_stream(struct hodo_read *r, size_t window, int (*each)(struct hodo_stream *s, void *arg), void *arg)
{
	int err = 0;

	hodo_read_rewind(r);
	for (uint32_t i = 0; i < r->ntraces; i++) {
		for (uint32_t k = 0; k < r->traces[i]->nstreams && !err; k++) {
			struct hodo_stream *s = r->traces[i]->streams[k];

			hodo_read_stream_start(s, window, true);
			err = each(s, arg);
			hodo_read_stream_finish(s);
		}
	}
	return err;
}

/* Forgets what was learned from other events. */
static void unlearn(struct hodo_read *r)
{
	hodo_read_rewind(r);
	if (r->spans)
		hodo_spans_forget(r->spans);
	r->learned = false;
}

void hodo_read_limit(struct hodo_read *reader, int64_t since_ns, int64_t until_ns)
{
	unlearn(reader);
	reader->since_ns = since_ns;
	reader->until_ns = until_ns;
}

int hodo_read_spans(struct hodo_read *reader)
{
	unlearn(reader);
	reader->begins = true;
	if (!reader->spans)
		reader->spans = hodo_spans_new();
	return reader->spans ? 0 : -ENOMEM;
}

int hodo_read_choose(struct hodo_read *reader, int (*takes)(void *data, const struct hodo_read_event *event),
		     void *data, bool whole)
{
	unlearn(reader);
	reader->takes = takes;
	reader->takes_data = data;
	reader->whole = takes && whole;
	return reader->whole ? hodo_read_spans(reader) : 0;
}
