/* SPDX-License-Identifier: MIT */
/* count.c - figures of a whole recording: headers alone, or every event counted, stream by stream. */
#include "internal.h"
#include "layout.h"

#include <errno.h>
#include <stdlib.h>

#define COUNT_WINDOW_BYTES (512u << 10) /* stays in the second-level cache */
#define SCAN_WINDOW_BYTES  4096u

/* By id. */
struct counts {
	uint64_t events[HODO_EVENTS_MAX];
	uint64_t bytes[HODO_EVENTS_MAX]; /* of events of variable size */
};

static int each_stream(struct hodo_read *r, size_t window, int (*each)(struct hodo_stream *s, void *arg), void *arg)
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

static int scan_stream(struct hodo_stream *s, void *unused)
{
	int got;

	while ((got = hodo_read_stream_packet(s)) > 0)
		;
	return got;
}

int hodo_read_scan(struct hodo_read *reader)
{
	return each_stream(reader, SCAN_WINDOW_BYTES, scan_stream, NULL);
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
	struct counts *counts;
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
		need = hodo_layouts_size_at(s->trace->layouts, w->p, (size_t)(w->end - w->p));
		if (need == 0 || need > s->body_end - off) {
			hodo_read_stream_stuck(s, off, need == 0);
			return 0;
		}
	}
	return 0;
}

static int count_packet(struct hodo_stream *s, struct count_arg *a)
{
	struct walk w = { .last = s->time_last, .limit = s->time_limit };
	int err = walk_packet(s, &w, a->counts);

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

static int count_stream(struct hodo_stream *s, void *arg)
{
	struct hodo_trace *t = s->trace;
	struct count_arg *a = arg;
	int got;

	while ((got = hodo_read_stream_packet(s)) > 0) {
		int err = count_packet(s, a);

		if (err)
			return err;
		hodo_read_stream_packet_end(s);
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

int hodo_read_count(struct hodo_read *reader, struct hodo_read_totals *totals)
{
	struct count_arg a = { .totals.size = sizeof(a.totals) };
	int err;

	if (totals && totals->size < sizeof(*totals))
		return -EINVAL;
	for (uint32_t i = 0; i < reader->ntraces; i++)
		for (uint32_t k = 0; k < reader->traces[i]->nclasses; k++)
			reader->traces[i]->classes[k]->pub.count = reader->traces[i]->classes[k]->pub.bytes = 0;
	a.counts = calloc(1, sizeof(*a.counts));
	err = a.counts ? each_stream(reader, COUNT_WINDOW_BYTES, count_stream, &a) : -ENOMEM;
	free(a.counts);
	if (totals)
		*totals = a.totals;
	return err;
}

/* ----------------------------------------------------------------------- losses */

struct losses {
	int (*found)(void *data, const struct hodo_read_loss *loss);
	void *data;
	struct counts *counts; /* for the walk; not read */
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
		err = walk_packet(s, &w, l->counts);
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

static int stream_losses(struct hodo_stream *s, void *arg)
{
	struct losses *l = arg;
	int got = 0;

	l->gap = l->discarded = 0;
	while (!got && (got = hodo_read_stream_packet(s)) > 0)
		got = packet_losses(s, l);
	return got;
}

int hodo_read_losses(struct hodo_read *reader, int (*found)(void *data, const struct hodo_read_loss *loss), void *data)
{
	struct losses l = { .found = found, .data = data, .counts = calloc(1, sizeof(*l.counts)) };
	int err = l.counts ? each_stream(reader, COUNT_WINDOW_BYTES, stream_losses, &l) : -ENOMEM;

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
