/* SPDX-License-Identifier: MIT */
/* count.c - figures of a whole recording: headers alone, or every event counted, stream by stream. */
#include "internal.h"
#include "layout.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT_WINDOW_BYTES (512u << 10) /* stays in the second-level cache */
#define SCAN_WINDOW_BYTES  4096u

struct counts {
	uint64_t *events; /* by id */
	uint64_t *bytes;  /* by id, of events of variable size */
};

int hodo_read_scan(struct hodo_read *reader)
{
	int got = 0;

	hodo_read_rewind(reader);
	for (uint32_t i = 0; i < reader->ntraces && got >= 0; i++) {
		for (uint32_t k = 0; k < reader->traces[i]->nstreams && got >= 0; k++) {
			struct hodo_stream *s = reader->traces[i]->streams[k];

			hodo_read_stream_start(s, SCAN_WINDOW_BYTES, true);
			while ((got = hodo_read_stream_packet(s)) > 0)
				;
			hodo_read_stream_finish(s);
		}
	}
	return got;
}

/* Where the walk over a packet's events stands. */
struct walk {
	const uint8_t *p, *end;
	uint64_t last, limit; /* time */
	uint64_t first;       /* time of the first event counted */
	uint64_t events;
	uint64_t out_of_time;
};

/* Counts events until the end, or one that is broken. No calls: 50 million a second come through here. */
static void walk_events(const struct hodo_read_layouts *l, struct walk *w, struct counts *counts)
{
	const uint8_t *p = w->p, *end = w->end;
	uint64_t last = w->last, limit = w->limit, n = 0;

	while ((size_t)(end - p) >= HODO_EVENT_HEADER) {
		uint64_t word = load64(p), time;
		uint32_t id = (uint16_t)word;
		size_t size = hodo_layouts_size(l, id, p, (size_t)(end - p));

		if (__builtin_expect(size == 0 || size > (size_t)(end - p), 0))
			break;
		time = last + (((word >> 16) - last) & TIMESTAMP_MASK);
		p += size;
		if (__builtin_expect(time > limit || time < last, 0)) {
			w->out_of_time++;
			continue;
		}
		if (__builtin_expect(w->events + n == 0, 0))
			w->first = time;
		last = time;
		counts->events[id]++;
		if (l->fixed[id] == 0)
			counts->bytes[id] += size;
		n++;
	}
	w->p = p;
	w->last = last;
	w->events += n;
}

struct count_arg {
	struct counts counts;
	struct hodo_read_totals totals;
};

static void note_times(struct hodo_stream *s, const struct walk *w, struct hodo_read_totals *t)
{
	int64_t first, last;

	if (w->events == 0)
		return;
	first = hodo_read_clock_ns(&s->trace->pub.clock, w->first);
	last = hodo_read_clock_ns(&s->trace->pub.clock, w->last);
	if (t->events == 0 || first < t->begin_ns)
		t->begin_ns = first;
	if (t->events == 0 || last > t->end_ns)
		t->end_ns = last;
	t->events += w->events;
}

/* The packet's events, window by window. 0, or a negative errno. */
static int walk_packet(struct hodo_stream *s, struct walk *w, struct counts *counts)
{
	uint64_t off = s->body_off;
	size_t need = 1, len;
	int err;

	while (off < s->body_end) {
		const uint8_t *p = hodo_read_stream_bytes(s, off, need, &len, &err);
		const char *fault = NULL;

		if (!p) {
			if (!err)
				hodo_read_stream_warn(s, WARN_SHORT, "cut short while it was read");
			return err;
		}
		w->p = p;
		w->end = p + (len < s->body_end - off ? len : (size_t)(s->body_end - off));
		walk_events(s->trace->layouts, w, counts);
		off += (uint64_t)(w->p - p);
		need = 1;
		if (w->p == w->end)
			continue;
		need = hodo_read_stream_event(s, w->p, (size_t)(w->end - w->p), &fault);
		if (fault || need > s->body_end - off) {
			hodo_read_stream_stuck(s, off, fault);
			return 0;
		}
	}
	return 0;
}

static int count_packet(struct hodo_stream *s, struct count_arg *a)
{
	struct walk w = { .last = s->time_last, .limit = s->time_limit };
	int err = walk_packet(s, &w, &a->counts);

	s->packet_events += w.events;
	s->time_last = w.last;
	note_times(s, &w, &a->totals);
	if (w.out_of_time)
		hodo_read_stream_warn(s, WARN_TIME,
				      "%llu events outside their packet's time behind byte %llu: skipped",
				      (unsigned long long)w.out_of_time,
				      (unsigned long long)hodo_read_stream_place(s, s->body_off));
	return err;
}

static int count_stream(struct hodo_stream *s, struct count_arg *a)
{
	int got;

	hodo_read_stream_start(s, COUNT_WINDOW_BYTES, true);
	while ((got = hodo_read_stream_packet(s)) > 0) {
		int err = count_packet(s, a);

		if (err)
			return err;
		hodo_read_stream_packet_end(s);
	}
	a->totals.damaged += s->pub.damaged;
	return got;
}

static int count_trace(struct hodo_trace *t, struct count_arg *a)
{
	size_t n = t->layouts->n ? t->layouts->n : 1;
	int err = 0;

	a->counts.events = calloc(n, sizeof(uint64_t));
	a->counts.bytes = calloc(n, sizeof(uint64_t));
	if (!a->counts.events || !a->counts.bytes)
		err = -ENOMEM;
	for (uint32_t i = 0; i < t->nstreams && !err; i++) {
		err = count_stream(t->streams[i], a);
		hodo_read_stream_finish(t->streams[i]);
	}
	for (uint32_t i = 0; i < t->nclasses && !err; i++) {
		struct hodo_read_class *c = &t->classes[i]->pub;

		c->count = a->counts.events[c->id];
		c->bytes = a->counts.bytes[c->id] + c->count * c->fixed_bytes;
		a->totals.bytes += c->bytes;
	}
	free(a->counts.events);
	free(a->counts.bytes);
	return err;
}

int hodo_read_count(struct hodo_read *reader, struct hodo_read_totals *totals)
{
	struct count_arg a = { .totals.size = sizeof(a.totals) };
	int err = 0;

	if (totals && totals->size < sizeof(*totals))
		return -EINVAL;
	hodo_read_rewind(reader);
	for (uint32_t i = 0; i < reader->ntraces && !err; i++)
		err = count_trace(reader->traces[i], &a);
	if (totals)
		*totals = a.totals;
	return err;
}

/* ----------------------------------------------------------------------- losses */

struct losses {
	int (*found)(void *data, const struct hodo_read_loss *loss);
	void *data;
	struct counts counts; /* for the walk; not read */
	uint64_t gap, discarded; /* of the stream, up to the packet before */
	int64_t end_ns;          /* of the packet before */
	uint64_t seq;            /* its number, and the file that it is in */
	uint32_t file;
};

static int tell_loss(const struct losses *l, const struct hodo_stream *s, int64_t from_ns, int64_t until_ns,
		     struct hodo_read_loss loss)
{
	loss.size = sizeof(loss);
	loss.process = &s->trace->pub;
	loss.stream = &s->pub;
	loss.from_ns = from_ns < until_ns ? from_ns : until_ns;
	loss.until_ns = until_ns;
	return loss.discarded || loss.overwritten || loss.damaged ? l->found(l->data, &loss) : 0;
}

/*
 * A full ring refuses events when its last packet has no room, until that is closed: behind its last event. What is
 * refused for other reasons may be anywhere in the packet, and what the headers skip lies before it.
 */
static int packet_losses(struct hodo_stream *s, struct losses *l)
{
	const struct hodo_read_lost *causes = &s->lost_by_cause;
	uint64_t rose = s->discarded > l->discarded ? s->discarded - l->discarded : 0;
	uint64_t skipped = s->events_gap - l->gap, before = skipped < rose ? skipped : rose;
	int64_t begin_ns = hodo_read_clock_ns(&s->trace->pub.clock, s->time_last), from_ns = begin_ns, last_ns;
	int64_t before_ns = s->pub.packets > 1 ? l->end_ns : begin_ns;
	bool overwrites = s->trace->pub.mode == HODO_MODE_OVERWRITE;
	/* Numbers begin again in each file of a recording in parts. */
	bool hole = s->pub.packets > 1 && l->file == s->walked && s->head.packet_seq_num > l->seq + 1;
	struct walk w = { .last = s->time_last, .limit = s->time_limit };
	uint64_t unread;
	int err = 0;

	if (skipped)
		err = tell_loss(l, s, before_ns, begin_ns, (struct hodo_read_loss){
			.discarded = overwrites ? 0 : before, .overwritten = overwrites ? before : 0 });
	if (!err && hole && skipped > before)
		err = tell_loss(l, s, before_ns, begin_ns, (struct hodo_read_loss){ .damaged = skipped - before });
	if (!err)
		err = walk_packet(s, &w, &l->counts);
	last_ns = hodo_read_clock_ns(&s->trace->pub.clock, w.last);
	if (s->head.events == 0)
		from_ns = before_ns;
	else if (s->lost_known && !causes->too_large && !causes->busy)
		from_ns = last_ns;
	if (!err)
		err = tell_loss(l, s, from_ns, s->pub.end_ns, (struct hodo_read_loss){ .discarded = rose - before });
	unread = s->head.events > w.events ? s->head.events - w.events : 0;
	if (!err)
		err = tell_loss(l, s, last_ns, s->pub.end_ns, (struct hodo_read_loss){ .damaged = unread });
	s->packet_events = w.events;
	s->time_last = w.last;
	hodo_read_stream_packet_end(s);
	l->gap = s->events_gap;
	l->discarded = s->discarded;
	l->end_ns = s->pub.end_ns;
	l->seq = s->head.packet_seq_num;
	l->file = s->walked;
	return err;
}

static int trace_losses(struct hodo_trace *t, struct losses *l)
{
	size_t n = t->layouts->n ? t->layouts->n : 1;
	int got = 0;

	l->counts.events = calloc(n, sizeof(uint64_t));
	l->counts.bytes = calloc(n, sizeof(uint64_t));
	if (!l->counts.events || !l->counts.bytes)
		got = -ENOMEM;
	for (uint32_t i = 0; i < t->nstreams && !got; i++) {
		struct hodo_stream *s = t->streams[i];

		l->gap = l->discarded = 0;
		hodo_read_stream_start(s, COUNT_WINDOW_BYTES, true);
		while (!got && (got = hodo_read_stream_packet(s)) > 0)
			got = packet_losses(s, l);
		hodo_read_stream_finish(s);
	}
	free(l->counts.events);
	free(l->counts.bytes);
	return got;
}

int hodo_read_losses(struct hodo_read *reader, int (*found)(void *data, const struct hodo_read_loss *loss), void *data)
{
	struct losses l = { .found = found, .data = data };
	int err = 0;

	hodo_read_rewind(reader);
	for (uint32_t i = 0; i < reader->ntraces && !err; i++)
		err = trace_losses(reader->traces[i], &l);
	return err;
}

static void add(struct hodo_read_lost *sum, const struct hodo_read_process *p)
{
	for (uint32_t i = 0; i < p->nstreams; i++) {
		const struct hodo_read_lost *l = &p->streams[i]->lost;

		sum->full += l->full;
		sum->too_large += l->too_large;
		sum->busy += l->busy;
		sum->overwritten += l->overwritten;
		sum->unwritten += l->unwritten;
		sum->unknown += l->unknown;
	}
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
