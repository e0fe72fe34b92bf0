/* SPDX-License-Identifier: MIT */
/*
 * stream.c - one CTF stream file: whole packets, at all times.
 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <pack/frames.h>

void hodo_stream_file_init(struct hodo_stream_file *s, const uint8_t uuid[16], uint32_t ring, uint32_t fallback)
{
	memset(s, 0, sizeof(*s));
	memcpy(s->uuid, uuid, 16);
	s->fd = -1;
	s->cpu_id = ring == fallback ? HODO_CPU_ANY : ring;
	if (ring == fallback)
		strcpy(s->name, "fallback");
	else
		snprintf(s->name, sizeof(s->name), "cpu%u", ring);
}

/* Writes everything or returns a negative errno. */
static int write_all(int fd, struct iovec *iov, int n, uint64_t offset)
{
	while (n > 0) {
		ssize_t done = pwritev(fd, iov, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		offset += (uint64_t)done;
		while (n > 0 && (size_t)done >= iov->iov_len) {
			done -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* All or nothing. */
static int append_bytes(struct hodo_stream_file *s, struct iovec *iov, int n)
{
	int err = write_all(s->fd, iov, n, s->bytes);

	/* Truncation needs no room; if it fails anyway, the next packet overwrites the remains. */
	if (err && ftruncate(s->fd, (off_t)s->bytes) < 0 && errno != EINVAL)
		err = -errno;
	return err;
}

/* Appends the packet as a frame. Returns its size, or a negative errno. */
static ssize_t append_frame(struct hodo_stream_file *s, const struct hodo_packet *h, const uint8_t *body)
{
	size_t size = h->packet_size / 8;
	const uint8_t *frame;
	ssize_t len = hodo_compress(s->compressor, h, sizeof(*h), body, size - sizeof(*h), &frame);
	struct iovec iov = { (void *)frame, (size_t)len };
	int err;

	if (len < 0)
		return len;
	err = hodo_seek_table_add(&s->table, (size_t)len, size);
	if (!err) {
		err = append_bytes(s, &iov, 1);
		s->table.n -= err < 0;
	}
	return err ? err : len;
}

/* All or nothing. */
static int append(struct hodo_stream_file *s, struct hodo_packet *h, const uint8_t *body)
{
	struct iovec iov[2] = { { h, sizeof(*h) }, { (void *)body, h->content_size / 8 - sizeof(*h) } };
	ssize_t len = (ssize_t)(h->packet_size / 8);
	int err = 0;

	h->packet_seq_num = s->packets;
	s->apart = true;
	hodo_drain_apart(s->drain);
	if (s->compressor)
		len = append_frame(s, h, body);
	else
		err = append_bytes(s, iov, 2);
	hodo_drain_back(s->drain);
	s->apart = false;
	if (err || len < 0)
		return err ? err : (int)len;
	s->bytes += (uint64_t)len;
	s->packets++;
	s->events += h->events;
	s->discarded = h->events_discarded;
	return 0;
}

/*
 * For losses before the first packet: readers count by the difference of two packets, so there must be one
 * with no losses before it. It begins before the other: see HODO_STREAM_APART.
 */
static int append_origin(struct hodo_stream_file *s, const struct hodo_packet *first)
{
	struct hodo_packet h = *first;

	h.timestamp_begin -= h.timestamp_begin < HODO_STREAM_APART ? h.timestamp_begin : HODO_STREAM_APART;
	h.timestamp_end = h.timestamp_begin;
	h.content_size = h.packet_size = 8 * sizeof(h);
	h.events_discarded = h.events_before = 0;
	h.events = 0;
	return append(s, &h, (const uint8_t *)"");
}

/* Reopens an existing file that was closed because too many were open. */
static int open_file(struct hodo_stream_file *s, int dirfd)
{
	char name[sizeof(s->name) + sizeof(HODO_FRAMES_SUFFIX)];
	int fd;

	snprintf(name, sizeof(name), "%s%s", s->name, s->compressor ? HODO_FRAMES_SUFFIX : "");
	fd = s->made ? openat(dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) : hodo_file_make(dirfd, name);
	if (fd < 0)
		return s->made ? -errno : fd;
	s->fd = fd;
	s->made = true;
	return 0;
}

int hodo_stream_file_write(struct hodo_stream_file *s, int dirfd, const struct hodo_packet *header, const uint8_t *body)
{
	struct hodo_packet h = *header;
	int err = 0;

	h.stream_id = 0;
	h.cpu_id = s->cpu_id;
	h.events_discarded += s->unwritten;
	h.events_discarded -= h.events_discarded < s->discarded_before ? h.events_discarded : s->discarded_before;
	memcpy(h.uuid, s->uuid, sizeof(h.uuid));
	if (s->fd < 0)
		err = open_file(s, dirfd);
	if (!err && s->packets == 0 && h.events_discarded > 0)
		err = append_origin(s, &h);
	if (!err)
		err = append(s, &h, body);
	if (err)
		s->unwritten += h.events;
	return err;
}

int hodo_stream_file_settle(struct hodo_stream_file *s, int dirfd, uint64_t discarded, uint64_t ts)
{
	struct hodo_packet h = { .magic = HODO_CTF_MAGIC };

	if (discarded + s->unwritten <= s->discarded_before + s->discarded)
		return 0;
	h.timestamp_begin = h.timestamp_end = ts;
	h.content_size = h.packet_size = 8 * sizeof(h);
	h.events_discarded = discarded;
	h.events_before = s->events_before + s->events;
	return hodo_stream_file_write(s, dirfd, &h, (const uint8_t *)"");
}

void hodo_stream_file_next(struct hodo_stream_file *s)
{
	hodo_stream_file_end(s);
	s->events_before += s->events;
	s->discarded_before += s->discarded;
	s->bytes = s->packets = s->events = s->discarded = 0;
	s->made = false;
}

/* hodo does not need it. */
static void append_table(struct hodo_stream_file *s)
{
	HODO_AUTO_FREE uint8_t *table = NULL;
	ssize_t len = hodo_seek_table_make(&s->table, &table);
	struct iovec iov = { table, (size_t)len };

	if (len > 0)
		append_bytes(s, &iov, 1);
}

void hodo_stream_file_close(struct hodo_stream_file *s)
{
	hodo_close(s->fd);
	s->fd = -1;
}

void hodo_stream_file_end(struct hodo_stream_file *s)
{
	if (s->fd >= 0 && s->compressor)
		append_table(s);
	hodo_stream_file_close(s);
	hodo_seek_table_free(&s->table);
}
