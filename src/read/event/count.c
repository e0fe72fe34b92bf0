/* SPDX-License-Identifier: MIT */
/* count.c - figures of a whole recording: from headers alone, or counting every event, stream by stream. */
#include "order.h"

#include <read/file/class.h>
#include <read/file/layout.h>
#include <read/file/load.h>
#include <read/file/reader.h>
#include <read/file/stream.h>

#include <errno.h>
#include <stdlib.h>

#define COUNT_WINDOW_BYTES (512u << 10) /* stays in the second-level cache */
#define SCAN_WINDOW_BYTES  4096u

struct counts {
	uint64_t events[HODO_EVENTS_MAX]; /* by id */
	uint64_t bytes[HODO_EVENTS_MAX];  /* of events of variable size */
	uint64_t first;                   /* time of the packet's first event */
	uint64_t out_of_time;             /* events of the packet that are skipped */
};

/* Counts events of the packet that are in memory, until one is incomplete. Makes no calls: 50 million events
 * a second pass through here. */
static void count_run(struct hodo_stream *s, struct counts *counts)
{
	const struct hodo_read_layouts *l = s->trace->layouts;
	const uint8_t *p = s->p, *end = s->avail;
	uint64_t limit = s->time_limit, n = 0;
	struct hodo_cursor cursor = s->cursor;

	while ((size_t)(end - p) >= HODO_EVENT_HEADER) {
		size_t room = (size_t)(end - p), size = hodo_layouts_size_at(l, p, room);
		uint64_t word = room >= 8 ? load64(p) : load32(p) | (uint64_t)load16(p + 4) << 32;
		uint64_t form = word & HODO_FORM_MASK;
		uint64_t time = form == HODO_FORM_ANCHOR ? word & ~3ull : hodo_cursor_time(&cursor, word);
		uint32_t id = form == HODO_FORM_EVENT ? hodo_event_id(word) : l->call[form & 1];

		if (__builtin_expect(size == 0 || size > room, 0))
			break;
		p += size;
		if (__builtin_expect(time > limit || time < cursor.time, 0)) {
			if (form == HODO_FORM_ANCHOR)
				cursor.anchored = false;
			counts->out_of_time++;
			continue;
		}
		if (__builtin_expect(form == HODO_FORM_ANCHOR, 0)) {
			hodo_cursor_anchor(&cursor, word, load64(p - 8));
			continue;
		}
		if (__builtin_expect(!cursor.anchored, 0)) {
			counts->out_of_time++;
			continue;
		}
		if (__builtin_expect(s->packet_events + n == 0, 0))
			counts->first = time;
		cursor.time = time;
		counts->events[id]++;
		if (l->fixed[id] != size)
			counts->bytes[id] += size - l->fixed[id];
		n++;
	}
	s->p = p;
	s->cursor = cursor;
	s->packet_events += n;
}

/* 0, or a negative errno. */
static int count_packet(struct hodo_stream *s, struct counts *counts)
{
	int got;

	counts->out_of_time = 0;
	while ((got = hodo_read_stream_event(s)) > 0)
		count_run(s, counts);
	return got;
}

/* What is there of a packet that its file is too short for, which its header does not say. counts: made when needed. */
static int scan_cut(struct hodo_stream *s, struct counts **counts)
{
	int err;

	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	err = *counts ? count_packet(s, *counts) : -ENOMEM;
	if (!err)
		hodo_read_stream_packet_end(s);
	return err;
}

static int scan_stream(struct hodo_stream *s, void *arg)
{
	int got;

	while ((got = hodo_read_stream_packet(s)) > 0) {
		int err = s->cut ? scan_cut(s, arg) : 0;

		if (err)
			return err;
	}
	return got;
}

int hodo_read_scan(struct hodo_read *reader)
{
	struct counts *counts = NULL;
	int err = hodo_read_each_stream(reader, SCAN_WINDOW_BYTES, scan_stream, &counts);

	free(counts);
	return err;
}

struct count_arg {
	struct counts *counts;
	struct hodo_read_totals totals;
};

static void note_packet(struct hodo_stream *s, struct count_arg *a)
{
	struct hodo_read_totals *t = &a->totals;
	int64_t first = hodo_read_clock_ns(&s->trace->pub.clock, a->counts->first);
	int64_t last = hodo_read_clock_ns(&s->trace->pub.clock, s->cursor.time);

	if (s->packet_events && (t->events == 0 || first < t->begin_ns))
		t->begin_ns = first;
	if (s->packet_events && (t->events == 0 || last > t->end_ns))
		t->end_ns = last;
	t->events += s->packet_events;
	if (a->counts->out_of_time)
		hodo_read_stream_warn(s, WARN_TIME,
				      "%llu events outside their packet's time behind byte %llu: skipped",
				      (unsigned long long)a->counts->out_of_time,
				      hodo_read_stream_place(s, s->body_off));
	hodo_read_stream_packet_end(s);
}

static int count_stream(struct hodo_stream *s, void *arg)
{
	struct hodo_trace *t = s->trace;
	struct count_arg *a = arg;
	int got;

	while ((got = hodo_read_stream_packet(s)) > 0) {
		int err = count_packet(s, a->counts);

		if (err)
			return err;
		note_packet(s, a);
	}
	a->totals.damaged += s->pub.damaged;
	for (uint32_t i = 0; i < t->nclasses; i++) {
		struct hodo_read_class *c = &t->classes[i]->pub;
		uint64_t *events = &a->counts->events[c->id], *bytes = &a->counts->bytes[c->id];

		*bytes += *events * c->fixed_bytes;
		c->count += *events;
		c->bytes += *bytes;
		a->totals.bytes += *bytes;
		*events = *bytes = 0;
	}
	return got;
}

/* Counts all events. */
static int count_all(struct hodo_read *reader, struct count_arg *a)
{
	int err;

	a->counts = calloc(1, sizeof(*a->counts));
	err = a->counts ? hodo_read_each_stream(reader, COUNT_WINDOW_BYTES, count_stream, a) : -ENOMEM;
	free(a->counts);
	return err;
}

/* Counts the chosen events, which must be checked one by one. */
static int count_chosen(struct hodo_read *reader, struct hodo_read_totals *t)
{
	const struct hodo_read_event *e;
	int got;

	hodo_read_rewind(reader);
	while ((got = hodo_read_next(reader, &e)) > 0) {
		struct hodo_read_class *c = &reader->given->trace->by_id[e->cls->id]->pub;

		t->begin_ns = t->events++ ? t->begin_ns : e->ts_ns;
		t->end_ns = e->ts_ns;
		t->bytes += reader->given->event_bytes;
		c->count++;
		c->bytes += reader->given->event_bytes;
	}
	for (uint32_t i = 0; i < reader->ntraces; i++)
		for (uint32_t k = 0; k < reader->traces[i]->nstreams; k++)
			t->damaged += reader->traces[i]->streams[k]->pub.damaged;
	hodo_read_rewind(reader);
	return got;
}

int hodo_read_count(struct hodo_read *reader, struct hodo_read_totals *totals)
{
	struct count_arg a = { .totals.size = sizeof(a.totals) };
	int err;

	if (totals && totals->size < sizeof(*totals))
		return -EINVAL;
	for (uint32_t i = 0; i < reader->ntraces; i++)
		for (uint32_t k = 0; k < reader->traces[i]->nclasses; k++)
			reader->traces[i]->classes[k]->pub.count = reader->traces[i]->classes[k]->pub.bytes = 0;
	err = reader->takes ? count_chosen(reader, &a.totals) : count_all(reader, &a);
	if (totals)
		*totals = a.totals;
	return err;
}

/* ----------------------------------------------------------------------- losses */

struct losses {
	int (*found)(void *data, const struct hodo_read_loss *loss);
	void *data;
	struct counts *counts; /* for the walk; not read */
};

static int stream_losses(struct hodo_stream *s, void *arg)
{
	struct losses *l = arg;
	int got = 0;

	while (!got && (got = hodo_read_stream_packet(s)) > 0) {
		got = hodo_losses_packet(s, l->found, l->data);
		if (!got)
			got = count_packet(s, l->counts);
		if (!got)
			got = hodo_losses_packet_end(s, l->found, l->data);
		hodo_read_stream_packet_end(s);
	}
	return got;
}

int hodo_read_losses(struct hodo_read *reader, int (*found)(void *data, const struct hodo_read_loss *loss), void *data)
{
	struct losses l = { .found = found, .data = data, .counts = calloc(1, sizeof(*l.counts)) };
	int err = l.counts ? hodo_read_each_stream(reader, COUNT_WINDOW_BYTES, stream_losses, &l) : -ENOMEM;

	free(l.counts);
	return err;
}

static void add(struct hodo_read_lost *sum, const struct hodo_read_process *p)
{
	for (uint32_t i = 0; i < p->nstreams; i++)
		hodo_read_lost_add(sum, &p->streams[i]->lost);
}

struct hodo_read_lost hodo_read_lost(const struct hodo_read *reader, const struct hodo_read_process *process)
{
	struct hodo_read_lost sum = { 0 };

	if (process)
		add(&sum, process);
	for (uint32_t i = 0; !process && i < reader->ntraces; i++)
		add(&sum, &reader->traces[i]->pub);
	return sum;
}

uint64_t hodo_read_limited(const struct hodo_read *reader, const struct hodo_read_process *process)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < reader->ntraces; i++) {
		const struct hodo_trace *t = reader->traces[i];

		for (uint32_t k = 0; k < t->nclasses && (!process || process == &t->pub); k++)
			sum += t->classes[k]->pub.limited;
	}
	return sum;
}

const struct hodo_read_unrecorded *hodo_read_unrecorded(const struct hodo_read *reader, uint32_t i)
{
	return i < reader->nunrecorded ? &reader->unrecorded[i] : NULL;
}

int64_t hodo_read_begin_ns(const struct hodo_read *reader)
{
	int64_t begin = INT64_MAX;

	for (uint32_t i = 0; i < reader->ntraces; i++) {
		const struct hodo_trace *t = reader->traces[i];

		for (uint32_t k = 0; k < t->nstreams; k++)
			if (t->streams[k]->has_begin && t->streams[k]->pub.begin_ns < begin)
				begin = t->streams[k]->pub.begin_ns;
	}
	return begin == INT64_MAX ? 0 : begin;
}
