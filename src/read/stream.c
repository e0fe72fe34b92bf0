/* SPDX-License-Identifier: MIT */
/*
 * stream.c - one stream file, packet by packet.
 *
 * Where a header or an event is broken, the next packet is looked for by its
 * magic number and uuid in the bytes behind; the walk only ever goes forward,
 * so that any file is read in time proportional to its size.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER       sizeof(struct hodo_packet)
#define MARK_BYTES   20 /* magic and uuid */
#define SEARCH_BYTES (256u << 10)
#define EFFORT_BYTES (64u << 20)

void hodo_read_stream_warn(struct hodo_stream *s, uint32_t once, const char *fmt, ...)
{
	va_list ap;

	if (s->warned & once)
		return;
	s->warned |= once;
	va_start(ap, fmt);
	hodo_read_warn(s->trace->reader, s->trace->folder, s->name, fmt, ap);
	va_end(ap);
}

/* An open descriptor of the file that was seen at first, or a negative errno. */
static int open_file(struct hodo_stream *s)
{
	char path[2 * NAME_MAX + 3];
	struct stat st;
	int fd, len;

	len = snprintf(path, sizeof(path), "%s/%s", s->trace->folder, s->name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	/* Neither a FIFO nor a device may block or act: the flags say so, the type is checked behind. */
	fd = openat(s->trace->reader->dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (s->ino && (st.st_ino != s->ino || st.st_dev != s->dev))) {
		close(fd);
		return -ESTALE;
	}
	if (!s->ino) {
		s->ino = st.st_ino;
		s->dev = st.st_dev;
		s->file_bytes = (uint64_t)st.st_size;
	}
	return fd;
}

/* Reads until len bytes or the end of the file. Bytes read, or a negative errno. */
static ssize_t read_at(struct hodo_stream *s, uint8_t *dst, size_t len, uint64_t off)
{
	int fd = s->fd >= 0 ? s->fd : open_file(s);
	size_t got = 0;
	ssize_t n = 0;

	if (fd < 0)
		return fd;
	while (got < len) {
		n = pread(fd, dst + got, len - got, (off_t)(off + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	n = n < 0 ? -errno : (ssize_t)got;
	if (s->fd < 0)
		close(fd);
	return n;
}

const uint8_t *hodo_read_stream_bytes(struct hodo_stream *s, uint64_t off, size_t need, size_t *len, int *err)
{
	size_t want = need > s->window ? need : s->window;
	ssize_t got;

	*err = 0;
	*len = 0;
	if (off >= s->buf_off && off + need <= s->buf_off + s->buf_len) {
		*len = (size_t)(s->buf_off + s->buf_len - off);
		return s->buf + (off - s->buf_off);
	}
	if (off >= s->file_bytes || need > s->file_bytes - off)
		return NULL;
	/* Nested claims of length can have the same bytes read over and over; no sound file comes near this.
	 */
	if (s->read_bytes > 8 * s->file_bytes + EFFORT_BYTES) {
		hodo_read_stream_warn(s, WARN_EFFORT, "too damaged to go on at byte %llu",
				      (unsigned long long)off);
		s->next_off = s->file_bytes;
		return NULL;
	}
	if (want > s->file_bytes - off)
		want = (size_t)(s->file_bytes - off);
	if (want > s->buf_room) {
		/* Nothing in the old buffer is needed: what is still wanted is read again. */
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
	got = read_at(s, s->buf, want, off);
	if (got < 0) {
		hodo_read_stream_warn(s, WARN_FILE, "cannot be read: %s", strerror((int)-got));
		s->file_bytes = off; /* treated as ending here */
		return NULL;
	}
	s->buf_off = off;
	s->buf_len = (size_t)got;
	if ((size_t)got < want)
		s->file_bytes = off + (uint64_t)got; /* it shrank meanwhile */
	if ((size_t)got < need)
		return NULL;
	*len = (size_t)got;
	return s->buf;
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
	return NULL;
}

int hodo_read_stream_probe(struct hodo_stream *s)
{
	int fd = open_file(s);

	if (fd < 0) {
		hodo_read_stream_warn(s, WARN_FILE, "%s: skipped",
				      fd == -ESTALE || fd == -ELOOP || fd == -ENXIO ? "not a regular file"
										    : strerror(-fd));
		return 1;
	}
	s->fd = fd;
	s->pub.bytes = s->file_bytes;
	if (read_at(s, (uint8_t *)&s->head, sizeof(s->head), 0) != (ssize_t)sizeof(s->head))
		memset(&s->head, 0, sizeof(s->head));
	close(fd);
	s->fd = -1;
	return 0;
}

static int32_t header_cpu(const struct hodo_packet *h)
{
	return h->cpu_id > INT32_MAX ? -1 : (int32_t)h->cpu_id; /* HODO_CPU_ANY too */
}

void hodo_read_stream_settle(struct hodo_stream *s)
{
	s->has_begin = header_fault(s, &s->head) == NULL;
	if (s->has_begin) {
		s->pub.begin_ns = hodo_read_clock_ns(&s->trace->pub.clock, s->head.timestamp_begin);
		s->pub.cpu = header_cpu(&s->head);
	} else if (strncmp(s->name, "cpu", 3) == 0) {
		s->pub.cpu = atoi(s->name + 3);
	}
	s->pub.lost = s->lost_by_cause;
}

void hodo_read_stream_free(struct hodo_stream *s)
{
	if (!s)
		return;
	hodo_read_stream_finish(s);
	free(s->name);
	free(s);
}

void hodo_read_stream_start(struct hodo_stream *s, size_t window, bool keep_open)
{
	hodo_read_stream_finish(s);
	s->window = window;
	s->fd = keep_open && s->file_bytes ? open_file(s) : -1;
	s->next_off = 0;
	s->read_bytes = 0;
	s->packet_events = 0;
	s->events_next = s->events_gap = s->discarded = 0;
	s->time_last = 0;
	s->p = s->avail = NULL;
	s->started = s->skip = false;
	s->pub.packets = s->pub.events = s->pub.damaged = 0;
	memset(&s->pub.lost, 0, sizeof(s->pub.lost));
	memset(&s->head, 0, sizeof(s->head));
}

static uint64_t lost_sum(const struct hodo_read_lost *l)
{
	return l->full + l->too_large + l->busy + l->overwritten + l->unwritten;
}

void hodo_read_stream_finish(struct hodo_stream *s)
{
	struct hodo_read_lost *lost = &s->pub.lost;
	uint64_t gap;

	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->buf);
	s->buf = NULL;
	s->buf_room = s->buf_len = 0;
	s->p = s->avail = NULL;

	*lost = s->lost_by_cause;
	if (s->lost_known && lost_sum(lost) >= s->discarded)
		return;
	/* The recording broke off, or the line is damaged: the packets know how many, not all of why. */
	gap = s->discarded - lost_sum(lost);
	if (s->trace->pub.mode == HODO_MODE_OVERWRITE && s->events_gap > lost->overwritten) {
		uint64_t overwritten = s->events_gap - lost->overwritten;

		overwritten = overwritten < gap ? overwritten : gap;
		lost->overwritten += overwritten;
		gap -= overwritten;
	}
	lost->unknown = gap;
}

/* The next place at or behind off that looks like a header; file_bytes if there is none. -ENOMEM. */
static int find_header(struct hodo_stream *s, uint64_t off, uint64_t *found)
{
	uint8_t mark[MARK_BYTES];
	const uint32_t magic = HODO_CTF_MAGIC;
	size_t window = s->window;
	int err = 0;

	memcpy(mark, &magic, sizeof(magic));
	memcpy(mark + sizeof(magic), s->trace->pub.uuid, 16);
	*found = s->file_bytes;
	s->window = window > SEARCH_BYTES ? window : SEARCH_BYTES;
	while (off < s->file_bytes && s->file_bytes - off >= HEADER) {
		size_t len;
		const uint8_t *p = hodo_read_stream_bytes(s, off, HEADER, &len, &err), *hit;

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
	return err;
}

/* Takes over a sound header: figures, and the time that its events count from. */
static void take_header(struct hodo_stream *s, uint64_t off)
{
	const struct hodo_packet *h = &s->head;
	int32_t cpu = header_cpu(h);
	int64_t begin_ns;

	if (s->pub.packets > 0 && cpu != s->pub.cpu)
		hodo_read_stream_warn(s, WARN_CPU, "packets of several CPUs");
	s->pub.cpu = cpu;
	if (s->pub.packets > 0 && h->events_discarded < s->discarded)
		hodo_read_stream_warn(s, WARN_DISCARDED, "the count of lost events runs back");
	s->discarded = h->events_discarded;
	if (h->events_before > s->events_next && h->events_before - s->events_next < UINT64_MAX / 2)
		s->events_gap += h->events_before - s->events_next;
	s->events_next = h->events_before + h->events;
	s->pub.packets++;
	s->pub.events += h->events;
	if (h->timestamp_end < h->timestamp_begin) {
		hodo_read_stream_warn(s, WARN_TIME, "packet at byte %llu ends before it begins",
				      (unsigned long long)off);
		s->time_limit = UINT64_MAX;
	} else {
		if (s->pub.packets > 1 && h->timestamp_begin < s->time_last)
			hodo_read_stream_warn(s, WARN_ORDER, "time runs back at byte %llu",
					      (unsigned long long)off);
		s->time_last = h->timestamp_begin;
		s->time_limit = h->timestamp_end;
	}
	begin_ns = hodo_read_clock_ns(&s->trace->pub.clock, s->time_last);
	if (s->pub.packets == 1)
		s->pub.begin_ns = begin_ns;
	s->pub.end_ns = s->time_limit == UINT64_MAX ? begin_ns
						    : hodo_read_clock_ns(&s->trace->pub.clock, s->time_limit);
}

int hodo_read_stream_packet(struct hodo_stream *s)
{
	for (;;) {
		uint64_t off = s->next_off, left;
		const char *fault;
		const uint8_t *p;
		size_t len;
		int err;

		if (off >= s->file_bytes)
			return 0;
		p = hodo_read_stream_bytes(s, off, HEADER, &len, &err);
		if (err)
			return err;
		if (!p) {
			hodo_read_stream_warn(s, WARN_SHORT, "cut short in a packet's header at byte %llu",
					      (unsigned long long)off);
			return 0;
		}
		memcpy(&s->head, p, HEADER);
		fault = header_fault(s, &s->head);
		if (fault) {
			hodo_read_stream_warn(s, WARN_HEADER,
					      "%s at byte %llu: looking for the next packet behind it", fault,
					      (unsigned long long)off);
			err = find_header(s, off + 1, &s->next_off);
			if (err)
				return err;
			continue;
		}
		left = s->file_bytes - off;
		s->body_off = off + HEADER;
		s->body_end = off + s->head.content_size / 8;
		s->next_off = off + s->head.packet_size / 8;
		s->cut = s->head.packet_size / 8 > left;
		if (s->cut) {
			hodo_read_stream_warn(s, WARN_SHORT,
					      "cut short: %llu bytes of the packet at byte %llu are missing",
					      (unsigned long long)(s->head.packet_size / 8 - left),
					      (unsigned long long)off);
			s->next_off = s->file_bytes;
			if (s->body_end > s->file_bytes)
				s->body_end = s->file_bytes;
		}
		take_header(s, off);
		s->packet_events = 0;
		return 1;
	}
}

size_t hodo_read_stream_event(const struct hodo_stream *s, const uint8_t *p, size_t room, const char **fault)
{
	const struct hodo_read_layouts *l = s->trace->layouts;
	uint32_t id;

	if (room < HODO_EVENT_HEADER)
		return HODO_EVENT_HEADER;
	id = load16(p);
	if (id >= l->n || !l->var[id]) {
		*fault = "unknown event id";
		return 0;
	}
	return l->fixed[id] ? l->fixed[id] : hodo_read_layout_var_size(l->var[id], p, room);
}

void hodo_read_stream_stuck(struct hodo_stream *s, uint64_t off, const char *fault)
{
	if (!fault && s->cut) {
		s->next_off = s->file_bytes; /* has been told */
		return;
	}
	hodo_read_stream_warn(s, WARN_EVENT, "%s at byte %llu: the rest of the packet is skipped",
			      fault ? fault : "an event longer than its packet", (unsigned long long)off);
	if (find_header(s, off, &s->next_off) < 0)
		s->next_off = s->file_bytes;
}

void hodo_read_stream_packet_end(struct hodo_stream *s)
{
	uint64_t announced = s->head.events;

	if (s->packet_events == announced)
		return;
	if (s->packet_events < announced)
		s->pub.damaged += announced - s->packet_events;
	hodo_read_stream_warn(s, WARN_COUNT, "a packet announces %llu events and %llu can be read",
			      (unsigned long long)announced, (unsigned long long)s->packet_events);
	s->packet_events = announced;
}
