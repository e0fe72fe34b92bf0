/* SPDX-License-Identifier: MIT */
/*
 * stream.c - one stream file, packet by packet.
 *
 * If a header or an event is broken, the next packet is searched by its magic number and uuid; the walk only
 * goes forward, so that any file is read in time proportional to its size.
 */
#include "stream.h"
#include "layout.h"
#include "packets.h"
#include "reader.h"

#include <base/file.h>
#include <base/order.h>
#include <base/vec.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER       sizeof(struct hodo_packet)
#define MARK_BYTES   20 /* magic and uuid */
#define SEARCH_BYTES (256u << 10)
#define EFFORT_BYTES (64u << 20)
#define COUNT_MAX    (1ull << 56) /* of events: no ring has so many */
#define LOST_ONLY_MAX 1024u /* streams without a file */

/* -------------------------------------------------------------- the streams of a trace */

struct hodo_stream *hodo_read_stream_new(struct hodo_trace *t, const char *name)
{
	struct hodo_stream *s = calloc(1, sizeof(*s));

	if (s)
		s->pub.name = hodo_arena_copy(&t->reader->memory, name, strlen(name));
	if (!s || !s->pub.name || hodo_vec_push(t->streams, t->nstreams, s) < 0) {
		free(s);
		return NULL;
	}
	s->trace = t;
	s->fd = -1;
	s->comm = "?";
	s->pub.size = sizeof(s->pub);
	s->pub.cpu = -1;
	return s;
}

/* cpu0, cpu1 … cpu10, then the others. */
static int by_name(const void *a, const void *b)
{
	const struct hodo_stream *x = *(struct hodo_stream *const *)a, *y = *(struct hodo_stream *const *)b;

	return strverscmp(x->pub.name, y->pub.name);
}

void hodo_read_streams_sort(struct hodo_trace *t)
{
	hodo_order_sort(t->streams, t->nstreams, by_name);
}

struct hodo_stream *hodo_read_streams_find(const struct hodo_trace *t, uint32_t n, const char *name)
{
	struct hodo_stream key = { .pub.name = name }, *k = &key, **hit;

	hit = n ? bsearch(&k, t->streams, n, sizeof(*t->streams), by_name) : NULL;
	return hit ? *hit : NULL;
}

struct hodo_stream *hodo_read_trace_stream(struct hodo_trace *t, const char *name)
{
	struct hodo_stream *s = hodo_read_streams_find(t, t->nfiles, name);

	if (s)
		return s;
	for (uint32_t i = t->nfiles; i < t->nstreams; i++)
		if (strcmp(t->streams[i]->pub.name, name) == 0)
			return t->streams[i];
	if (t->nstreams - t->nfiles >= LOST_ONLY_MAX)
		return NULL;
	return hodo_read_stream_new(t, name);
}

/* ----------------------------------------------------------------------- the files */

/* Ensures that s->fd is the segment's file. 0 or a negative errno. */
static int open_file(struct hodo_stream *s, struct hodo_segment *g)
{
	uint32_t index = (uint32_t)(g - s->segments);

	if (s->fd >= 0 && s->fd_of != index) {
		close(s->fd);
		s->fd = -1;
	}
	if (s->fd < 0) {
		int fd = hodo_read_segment_open(s, g);

		if (fd < 0)
			return fd;
		s->fd = fd;
		s->fd_of = index;
	}
	return 0;
}

static void leave_file(struct hodo_stream *s)
{
	if (!s->keep_open) {
		close(s->fd);
		s->fd = -1;
	}
}

/* Of a compressed file. */
static void warn_frames(struct hodo_stream *s, const struct hodo_segment *g)
{
	const struct hodo_frames_fault *fault = hodo_frames_fault(g->frames);

	if (fault->why)
		hodo_read_stream_warn(s, WARN_FRAMES, "compressed data at byte %llu %s: %llu bytes of the file are not read",
				      (unsigned long long)fault->at, fault->why, (unsigned long long)fault->bytes);
}

/* Reads len bytes from a segment, or up to the end of the file. Bytes read, or a negative errno. */
static ssize_t read_at(struct hodo_stream *s, struct hodo_segment *g, uint8_t *dst, size_t len, uint64_t off)
{
	ssize_t got = open_file(s, g);

	if (got == 0) {
		got = g->frames ? hodo_frames_read(g->frames, s->fd, dst, len, off - g->begin) :
				  hodo_file_read_at(s->fd, dst, len, off - g->begin);
		if (g->frames)
			warn_frames(s, g);
		leave_file(s);
	}
	return got;
}

/* The next offset, from off on, with data: no header begins in a hole. */
static uint64_t skip_hole(struct hodo_stream *s, struct hodo_segment *g, uint64_t off)
{
	if (g->frames)
		return g->begin + hodo_frames_data_at(g->frames, off - g->begin);
	if (open_file(s, g) < 0)
		return off; /* reported when it is read */
	off = g->begin + hodo_file_data_at(s->fd, off - g->begin, g->end - g->begin);
	leave_file(s);
	return off;
}

/* The file's bytes from off, at least need of them; *len says how many there are. NULL with *len = 0, or a
 * negative errno in *err, if they are not available. */
static const uint8_t *get_bytes(struct hodo_stream *s, uint64_t off, size_t need, size_t *len, int *err)
{
	size_t want = need > s->window ? need : s->window;
	struct hodo_segment *g;
	ssize_t got;

	*err = 0;
	*len = 0;
	if (off >= s->buf_off && off + need <= s->buf_off + s->buf_len) {
		*len = (size_t)(s->buf_off + s->buf_len - off);
		return s->buf + (off - s->buf_off);
	}
	g = hodo_read_segment_at(s, off);
	if (!g || off >= g->end || need > g->end - off)
		return NULL;
	/* Nested claims of length can make us read the same bytes repeatedly; no sound file comes near this. */
	if (s->read_bytes > 8 * s->file_bytes + EFFORT_BYTES) {
		hodo_read_stream_warn(s, WARN_EFFORT, "too damaged to go on at byte %llu",
				      hodo_read_stream_place(s, off));
		s->next_off = s->file_bytes;
		return NULL;
	}
	if (want > g->end - off)
		want = (size_t)(g->end - off);
	if (want > s->buf_room) {
		/* Nothing in the old buffer is needed: it is read again. */
		free(s->buf);
		s->buf_room = 0;
		s->buf_len = 0;
		s->buf = malloc(want);
		if (!s->buf) {
			*err = -ENOMEM;
			return NULL;
		}
		s->buf_room = want;
	}
	s->buf_len = 0;
	s->read_bytes += want;
	got = read_at(s, g, s->buf, want, off);
	if (got < 0) {
		hodo_read_stream_warn(s, WARN_FILE, "cannot be read: %s", strerror((int)-got));
		g->end = off; /* treated as ending here */
		return NULL;
	}
	s->buf_off = off;
	s->buf_len = (size_t)got;
	if ((size_t)got < want)
		g->end = off + (uint64_t)got; /* it shrank meanwhile */
	if ((size_t)got < need)
		return NULL;
	*len = (size_t)got;
	return s->buf;
}

/* A packet's header. A compressed one can be read alone, and shows whether the rest is wanted. */
static const uint8_t *get_header(struct hodo_stream *s, const struct hodo_segment *g, uint64_t off, int *err)
{
	size_t window = s->window, len;
	const uint8_t *p;

	s->window = g->frames ? HEADER : window;
	p = get_bytes(s, off, HEADER, &len, err);
	s->window = window;
	return p;
}

/* Why the header at p cannot be a packet's; NULL if it can. */
static const char *header_fault(const struct hodo_stream *s, const struct hodo_packet *h)
{
	if (h->magic != HODO_CTF_MAGIC)
		return "no packet";
	if (memcmp(h->uuid, s->trace->pub.uuid, sizeof(h->uuid)) != 0)
		return "a packet of another trace";
	if (h->stream_id != 0)
		return "a packet of an unknown stream";
	if (h->packet_size % 8 || h->content_size % 8 || h->content_size > h->packet_size ||
	    h->content_size < 8 * HEADER || h->packet_size > 8ull * HODO_PACKET_MAX)
		return "a packet with a damaged size";
	if (h->events > (h->content_size / 8 - HEADER) / HODO_EVENT_HEADER)
		return "a packet with a damaged event count";
	if (h->events_before >= COUNT_MAX || h->events_discarded >= COUNT_MAX)
		return "a packet with damaged counts";
	return NULL;
}

int hodo_read_stream_probe(struct hodo_stream *s)
{
	struct hodo_segment *g = &s->segments[0];
	struct hodo_packet next;
	int fd = hodo_read_segment_open(s, g);

	if (fd < 0) {
		hodo_read_stream_warn(s, WARN_FILE, "%s: skipped",
				      fd == -ESTALE ? "not a regular file" : strerror(-fd));
		return 1;
	}
	s->fd = fd;
	s->fd_of = 0;
	if (read_at(s, g, (uint8_t *)&s->head, sizeof(s->head), 0) != (ssize_t)sizeof(s->head))
		memset(&s->head, 0, sizeof(s->head));
	/* A packet without events only marks where counting begins. */
	if (s->head.events || s->head.packet_size != 8 * HEADER ||
	    read_at(s, g, (uint8_t *)&next, sizeof(next), HEADER) != (ssize_t)sizeof(next))
		next = s->head;
	if (memcmp(&next, &s->head, MARK_BYTES) == 0 && next.events)
		s->first = next.events_before;
	return 0;
}

static int32_t header_cpu(const struct hodo_packet *h)
{
	return h->cpu_id > INT32_MAX ? -1 : (int32_t)h->cpu_id; /* also HODO_CPU_ANY */
}

/* Whether there were events before the first packet: overwritten, or in a part that is not here. */
static bool begins_late(const struct hodo_stream *s)
{
	if (s->trace->pub.mode != HODO_MODE_OVERWRITE)
		return s->head.events_before > 0;
	/* A packet without events only marks where counting begins. */
	return (s->head.events == 0 || s->head.events_before > 0) &&
	       (s->lost_by_cause.overwritten > 0 || !s->lost_known);
}

void hodo_read_stream_settle(struct hodo_stream *s)
{
	s->has_begin = header_fault(s, &s->head) == NULL;
	if (s->has_begin) {
		s->pub.begin_ns = hodo_read_clock_ns(&s->trace->pub.clock, s->head.timestamp_begin);
		s->pub.cpu = header_cpu(&s->head);
		s->lost_before = begins_late(s);
	} else if (strncmp(s->pub.name, "cpu", 3) == 0) {
		s->pub.cpu = atoi(s->pub.name + 3);
	}
	s->pub.lost = s->lost_by_cause;
}

void hodo_read_stream_free(struct hodo_stream *s)
{
	if (!s)
		return;
	hodo_read_stream_finish(s);
	for (uint32_t i = 0; i < s->nsegments; i++)
		hodo_frames_free(s->segments[i].frames);
	free(s->segments);
	hodo_losses_free(&s->losses);
	free(s);
}

void hodo_read_stream_start(struct hodo_stream *s, size_t window, bool keep_open)
{
	hodo_read_stream_finish(s);
	s->window = window;
	s->keep_open = keep_open;
	s->at = 0;
	s->walked = UINT32_MAX;
	hodo_read_segments_forget(s);
	s->next_off = 0;
	s->read_bytes = 0;
	s->packet_events = 0;
	s->events_next = s->events_gap = s->discarded = s->discarded_before = 0;
	s->hole = s->holes = s->seq = 0;
	s->cursor = (struct hodo_cursor){ 0 };
	s->body_off = s->body_end = 0;
	s->started = s->skip = false;
	s->pub.packets = s->pub.events = s->pub.damaged = 0;
	memset(&s->pub.lost, 0, sizeof(s->pub.lost));
	memset(&s->head, 0, sizeof(s->head));
	s->loss = (struct hodo_loss_walk){ 0 };
}

/* What is not needed until more is read. */
static void free_window(struct hodo_stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	for (uint32_t i = 0; i < s->nsegments; i++)
		hodo_frames_rest(s->segments[i].frames);
	free(s->buf);
	s->buf = NULL;
	s->buf_room = s->buf_len = 0;
	s->p = s->avail = NULL;
}

void hodo_read_stream_rest(struct hodo_stream *s)
{
	free_window(s);
	s->body_off = s->body_end; /* the packet is read */
	s->rests = true;
}

void hodo_read_stream_finish(struct hodo_stream *s)
{
	free_window(s);
	hodo_losses_sum(s);
}

/* The next place from off on, in the same file, that looks like a header, or the file's end. -ENOMEM. */
static int find_header(struct hodo_stream *s, uint64_t off, uint64_t *found)
{
	struct hodo_segment *g = hodo_read_segment_at(s, off);
	uint8_t mark[MARK_BYTES];
	const uint32_t magic = HODO_CTF_MAGIC;
	size_t window = s->window;
	uint64_t from = off;
	int err = 0;

	if (off >= g->bare_begin && off < g->bare_end)
		from = off = g->bare_end;
	memcpy(mark, &magic, sizeof(magic));
	memcpy(mark + sizeof(magic), s->trace->pub.uuid, 16);
	*found = g->end;
	s->window = window > SEARCH_BYTES ? window : SEARCH_BYTES;
	while ((off = skip_hole(s, g, off)) < g->end && g->end - off >= HEADER) {
		size_t len;
		const uint8_t *p = get_bytes(s, off, HEADER, &len, &err), *hit;

		if (!p)
			break;
		hit = memmem(p, len, mark, sizeof(mark));
		if (hit) {
			*found = off + (uint64_t)(hit - p);
			break;
		}
		off += len - (MARK_BYTES - 1);
	}
	s->window = window;
	if (!err && *found - from > g->bare_end - g->bare_begin) {
		g->bare_begin = from;
		g->bare_end = *found;
	}
	return err;
}

/* Takes over a sound header: figures, and the base of its events' times. */
static void take_header(struct hodo_stream *s, struct hodo_segment *g, uint64_t off)
{
	const struct hodo_packet *h = &s->head;
	bool same_file = s->walked == (uint32_t)(g - s->segments), missing;
	int32_t cpu = header_cpu(h);
	uint64_t discarded;
	int64_t begin_ns;

	/* Numbers start over in each file of a recording in parts. */
	if (same_file)
		missing = h->packet_seq_num > s->seq + 1;
	else
		missing = s->walked != UINT32_MAX &&
			  hodo_read_segment_missing(s, &s->segments[s->walked], g);
	if (!same_file) {
		s->walked = (uint32_t)(g - s->segments);
		s->discarded_before = s->discarded;
	}
	discarded = s->discarded_before + h->events_discarded;

	if (s->pub.packets > 0 && cpu != s->pub.cpu)
		hodo_read_stream_warn(s, WARN_CPU, "packets of several CPUs");
	s->pub.cpu = cpu;
	if (s->pub.packets > 0 && discarded < s->discarded)
		hodo_read_stream_warn(s, WARN_DISCARDED, "the count of lost events runs back");
	hodo_losses_gap(s, missing, discarded > s->discarded ? discarded - s->discarded : 0);
	s->discarded = discarded;
	s->pub.packets++;
	s->pub.events += h->events;
	if (h->timestamp_end < h->timestamp_begin) {
		hodo_read_stream_warn(s, WARN_TIME, "packet at byte %llu ends before it begins",
				      hodo_read_stream_place(s, off));
		s->cursor.anchored = false;
		s->time_limit = UINT64_MAX;
	} else {
		/* An empty packet before a part's first one begins a little earlier. */
		if (s->pub.packets > 1 && h->timestamp_begin < s->cursor.time && h->events > 0)
			hodo_read_stream_warn(s, WARN_ORDER, "time runs back at byte %llu",
					      hodo_read_stream_place(s, off));
		s->cursor = hodo_cursor_begin(h->timestamp_begin);
		s->time_limit = h->timestamp_end;
	}
	begin_ns = hodo_read_clock_ns(&s->trace->pub.clock,
				      s->time_limit == UINT64_MAX ? s->cursor.time : h->timestamp_begin);
	if (s->pub.packets == 1)
		s->pub.begin_ns = begin_ns;
	s->pub.end_ns = s->time_limit == UINT64_MAX ? begin_ns
						    : hodo_read_clock_ns(&s->trace->pub.clock, s->time_limit);
	hodo_read_segment_note(s, g, begin_ns);
}

/* Of a file that is being written: the recorder is just about to append this packet. */
static bool is_coming(const struct hodo_stream *s, const struct hodo_segment *g, const uint8_t *header, uint64_t off)
{
	struct hodo_packet h;

	if (!s->trace->reader->goes_on || g + 1 < s->segments + s->nsegments)
		return false;
	if (!header)
		return g->end - off < HEADER;
	memcpy(&h, header, HEADER);
	return !header_fault(s, &h) && h.packet_size / 8 > g->end - off;
}

int hodo_read_stream_packet(struct hodo_stream *s)
{
	for (;;) {
		uint64_t off = s->next_off, left;
		struct hodo_segment *g = hodo_read_segment_enter(s, &off);
		const char *fault;
		const uint8_t *p;
		int err;

		if (!g)
			return 0;
		p = get_header(s, g, off, &err);
		if (err || is_coming(s, g, p, off))
			return err;
		if (!p) {
			hodo_read_stream_warn(s, WARN_SHORT, "cut short in a packet's header at byte %llu",
					      hodo_read_stream_place(s, off));
			if (s->next_off < g->end)
				s->next_off = g->end;
			continue;
		}
		memcpy(&s->head, p, HEADER);
		fault = header_fault(s, &s->head);
		if (fault) {
			hodo_read_stream_warn(s, WARN_HEADER,
					      "%s at byte %llu: looking for the next packet behind it", fault,
					      hodo_read_stream_place(s, off));
			err = find_header(s, off + 1, &s->next_off);
			if (err)
				return err;
			continue;
		}
		left = g->end - off;
		s->body_off = off + HEADER;
		s->body_end = off + s->head.content_size / 8;
		s->next_off = off + s->head.packet_size / 8;
		s->cut = s->head.packet_size / 8 > left;
		if (s->cut) {
			hodo_read_stream_warn(s, WARN_SHORT,
					      "cut short: %llu bytes of the packet at byte %llu are missing",
					      (unsigned long long)(s->head.packet_size / 8 - left),
					      hodo_read_stream_place(s, off));
			s->next_off = g->end;
			if (s->body_end > g->end)
				s->body_end = g->end;
		}
		take_header(s, g, off);
		s->packet_events = 0;
		s->p = s->avail = NULL;
		return 1;
	}
}

/* The event at off has an unknown id, or exceeds its packet: searches the next packet. */
static void skip_rest(struct hodo_stream *s, uint64_t off, bool unknown)
{
	if (!unknown && s->cut) {
		s->next_off = hodo_read_segment_at(s, off)->end; /* already reported */
		return;
	}
	hodo_read_stream_warn(s, WARN_EVENT, "%s at byte %llu: the rest of the packet is skipped",
			      unknown ? "no record of a known event" : "an event longer than its packet",
			      hodo_read_stream_place(s, off));
	if (find_header(s, off, &s->next_off) < 0)
		s->next_off = s->file_bytes;
}

int hodo_read_stream_event(struct hodo_stream *s)
{
	uint64_t off = s->p ? hodo_read_stream_offset(s, s->p) : s->body_off;

	while (off < s->body_end) {
		size_t room = (size_t)(s->avail - s->p), len;
		size_t size = hodo_layouts_size_at(s->trace->layouts, s->p, room);
		int err;

		if (size == 0 || size > s->body_end - off) {
			skip_rest(s, off, size == 0);
			break;
		}
		if (size <= room)
			return 1;
		s->p = get_bytes(s, off, size, &len, &err);
		if (!s->p) {
			s->avail = NULL;
			if (err)
				return err;
			hodo_read_stream_warn(s, WARN_SHORT, "cut short while it was read");
			s->next_off = hodo_read_segment_at(s, off)->end;
			break;
		}
		s->avail = s->p + (len < s->body_end - off ? len : (size_t)(s->body_end - off));
	}
	return 0;
}

void hodo_read_stream_packet_end(struct hodo_stream *s)
{
	uint64_t announced = s->head.events;

	if (s->packet_events == announced)
		return;
	if (s->packet_events < announced) {
		s->pub.damaged += announced - s->packet_events;
		hodo_read_segment_take_back(s, announced - s->packet_events);
	}
	hodo_read_stream_warn(s, WARN_COUNT, "a packet announces %llu events and %llu can be read",
			      (unsigned long long)announced, (unsigned long long)s->packet_events);
	s->packet_events = announced;
}

/* ----------------------------------------------------------------- packets as a whole */

void hodo_packets_start(const struct hodo_read_stream *stream)
{
	hodo_read_stream_start((struct hodo_stream *)stream, SEARCH_BYTES, true);
}

int hodo_packets_next(const struct hodo_read_stream *stream, struct hodo_read_packet *packet)
{
	struct hodo_stream *s = (struct hodo_stream *)stream;
	int got = hodo_read_stream_packet(s), err = 0;
	size_t len;

	if (got <= 0)
		return got;
	*packet = (struct hodo_read_packet){ .head = s->head, .bytes = (size_t)(s->body_end - s->body_off),
					     .missing = s->holes, .compressed = s->segments[s->at].frames };
	packet->body = packet->bytes ? get_bytes(s, s->body_off, packet->bytes, &len, &err) : NULL;
	if (!packet->body) {
		packet->body = (const uint8_t *)"";
		packet->bytes = 0; /* or it shrank meanwhile */
	}
	return err ? err : 1;
}

int hodo_packets_search(const struct hodo_read_stream *stream, size_t bytes)
{
	struct hodo_stream *s = (struct hodo_stream *)stream;
	uint64_t off = s->body_off + bytes;

	return off < hodo_read_segment_at(s, off)->end ? find_header(s, off, &s->next_off) : 0;
}
