/* SPDX-License-Identifier: MIT */
/*
 * recover_stream.c - one stream file of an interrupted recording.
 *
 * A killed recorder leaves part of a packet at the end. Other damage is handled, too: after an invalid part,
 * the next packet is searched.
 */
#define _GNU_SOURCE
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <base/file.h>
#include <base/scope.h>
#include <pack/frames.h>

#include <record/ring/ring_reader.h>
#include <record/write/stream.h>

#define HEADER ((uint32_t)sizeof(struct hodo_packet))
#define MARK_BYTES 20u /* magic and uuid */

struct source {
	int fd;
	struct hodo_frames *frames; /* NULL: it is not compressed */
	uint64_t size, at;
	uint8_t *buffer; /* HODO_PACKET_MAX bytes */
	uint8_t mark[MARK_BYTES];
	const struct hodo_read_layouts *table;
	bool skipped;       /* since the last packet that was written */
	uint64_t expect;    /* events before the next packet */
	uint64_t discarded; /* as the last packet has it */
	uint64_t missed;    /* events that are neither written nor counted by a packet of the source */
	uint64_t ts_end;
};

static ssize_t read_at(struct source *s, void *to, size_t len, uint64_t at)
{
	return s->frames ? hodo_frames_read(s->frames, s->fd, to, len, at) : hodo_file_read_at(s->fd, to, len, at);
}

/* Skips holes, in which no header begins. */
static uint64_t data_at(const struct source *s, uint64_t at)
{
	return s->frames ? hodo_frames_data_at(s->frames, at) : hodo_file_data_at(s->fd, at, s->size);
}

static bool is_header(const struct source *s, const struct hodo_packet *h)
{
	return memcmp(h, s->mark, MARK_BYTES) == 0 && h->content_size % 8 == 0 && h->content_size >= 8ull * HEADER &&
	       h->content_size <= 8ull * HODO_PACKET_MAX && h->packet_size >= h->content_size &&
	       h->packet_size <= 8ull * HODO_PACKET_MAX && h->packet_size % 8 == 0 &&
	       h->timestamp_begin >= s->ts_end && h->timestamp_end >= h->timestamp_begin &&
	       h->events_discarded < HODO_RING_COUNT_MAX && h->events_before < HODO_RING_COUNT_MAX &&
	       h->events <= (h->content_size / 8 - HEADER) / HODO_EVENT_HEADER;
}

/* Advances to the next place where a packet may begin. */
static int look_further(struct source *s)
{
	s->skipped = true;
	for (s->at++; (s->at = data_at(s, s->at)) + HEADER <= s->size;) {
		uint64_t left = s->size - s->at;
		ssize_t n = read_at(s, s->buffer, left < HODO_PACKET_MAX ? left : HODO_PACKET_MAX, s->at);
		const uint8_t *hit;

		if (n < (ssize_t)MARK_BYTES)
			return n < 0 ? (int)n : 0;
		hit = memmem(s->buffer, (size_t)n, s->mark, MARK_BYTES);
		if (hit) {
			s->at += (uint64_t)(hit - s->buffer);
			return 0;
		}
		s->at += (uint64_t)n - (MARK_BYTES - 1);
	}
	s->at = s->size;
	return 0;
}

/*
 * Counts events in the skipped part: those that the next packet counts before it, and does not count as lost.
 */
static void count_skipped(struct source *s, const struct hodo_packet *h)
{
	uint64_t gap = h->events_before > s->expect ? h->events_before - s->expect : 0;
	uint64_t counted = h->events_discarded > s->discarded ? h->events_discarded - s->discarded : 0;

	if (s->skipped && gap > counted)
		s->missed += gap - counted;
	s->skipped = false;
}

/* Cuts the packet to the existing events. The body is in the buffer. */
static void cut_packet(struct source *s, struct hodo_packet *h, const struct hodo_walk_result *walk)
{
	s->missed += h->events - walk->events;
	h->events = walk->events;
	h->content_size = 8ull * (HEADER + walk->bytes);
	h->timestamp_end = walk->ts_last > h->timestamp_begin ? walk->ts_last : h->timestamp_begin;
}

/* Copies the existing events of a packet with a valid header. */
static int copy_packet(struct source *s, struct hodo_stream_file *to, int out, struct hodo_packet *h,
		       struct hodo_recover_stream *result)
{
	uint32_t len = (uint32_t)(h->content_size / 8) - HEADER;
	uint64_t left = s->size - s->at, next = h->packet_size / 8;
	ssize_t n = read_at(s, s->buffer, len, s->at + HEADER);
	struct hodo_walk_result walk;
	bool torn;
	int err;

	if (n < 0)
		return (int)n;
	hodo_walk(s->table, s->buffer, (uint32_t)n, h->timestamp_begin, h->events, &walk);
	torn = walk.events != h->events || walk.bytes != len || walk.ts_last > h->timestamp_end;
	count_skipped(s, h);
	s->expect = h->events_before + h->events;
	s->discarded = h->events_discarded;
	if (torn) {
		cut_packet(s, h, &walk);
		result->repaired++;
		next = h->content_size / 8;
	}
	h->packet_size = h->content_size;
	h->events_discarded += s->missed;
	if (h->events_discarded < to->discarded) /* it decreases where a packet was damaged */
		h->events_discarded = to->discarded;
	s->ts_end = h->timestamp_end;
	if (result->ts_begin == UINT64_MAX)
		result->ts_begin = h->timestamp_begin;
	err = hodo_stream_file_write(to, out, h, s->buffer);
	s->at += next < left ? next : left;
	/* After a torn packet, the next may be anywhere, since the size may be damaged. */
	if (!err && torn && s->at < s->size) {
		s->at--;
		err = look_further(s);
	}
	return err;
}

static int copy(struct source *s, struct hodo_stream_file *to, int out, struct hodo_recover_stream *result)
{
	int err = 0;

	while (!err && s->at + HEADER <= s->size) {
		struct hodo_packet h;
		ssize_t n = read_at(s, &h, sizeof(h), s->at);

		if (n != (ssize_t)sizeof(h))
			return n < 0 ? (int)n : 0;
		if (is_header(s, &h)) {
			to->cpu_id = h.cpu_id;
			err = copy_packet(s, to, out, &h, result);
			continue;
		}
		result->repaired++;
		err = look_further(s);
	}
	result->repaired += !err && s->at < s->size;
	return err;
}

/* Finds the frames of a compressed file, and prepares to make the copy's. 0 or a negative errno. */
static int open_frames(struct source *s, struct hodo_stream_file *to, struct hodo_frames_pool *pool,
		       struct hodo_recover_stream *result)
{
	int err = hodo_frames_open(&s->frames, pool, s->fd, 0, s->size);

	if (err)
		return err;
	s->size = hodo_frames_size(s->frames);
	result->repaired += hodo_frames_fault(s->frames)->why != NULL;
	to->compressor = hodo_compressor_new(HODO_COMPRESS_DEFAULT);
	return to->compressor ? 0 : -ENOMEM;
}

int hodo_recover_stream(int in, int out, const char *name, const uint8_t uuid[16],
			const struct hodo_read_layouts *table, struct hodo_recover_stream *result)
{
	const uint32_t magic = HODO_CTF_MAGIC;
	HODO_AUTO_CLOSE int fd = hodo_file_open(in, name);
	HODO_AUTO_FREE uint8_t *buffer = malloc(HODO_PACKET_MAX);
	struct source s = { .table = table, .fd = fd, .buffer = buffer };
	size_t len = hodo_frames_name(name);
	struct hodo_frames_pool pool = { 0 };
	struct hodo_stream_file to;
	struct stat st;
	int err;

	*result = (struct hodo_recover_stream){ .ts_begin = UINT64_MAX };
	if (fd < 0 || !buffer)
		return fd == -ESTALE ? -ENOENT : fd < 0 ? fd : -ENOMEM;
	if (fstat(fd, &st) < 0)
		return -errno;
	s.size = (uint64_t)st.st_size;
	memcpy(s.mark, &magic, sizeof(magic));
	memcpy(s.mark + sizeof(magic), uuid, 16);
	hodo_stream_file_init(&to, uuid, 0, 1);
	memset(to.name, 0, sizeof(to.name));
	memcpy(to.name, name, strnlen(name, len && len < sizeof(to.name) ? len : sizeof(to.name) - 1));
	err = len ? open_frames(&s, &to, &pool, result) : 0;
	if (!err)
		err = copy(&s, &to, out, result);
	if (!err)
		err = hodo_stream_file_settle(&to, out, s.discarded + s.missed, s.ts_end);
	result->events = to.events;
	result->bytes = to.bytes;
	result->torn = s.missed;
	hodo_stream_file_end(&to);
	hodo_compressor_free(to.compressor);
	hodo_frames_free(s.frames);
	hodo_frames_pool_free(&pool);
	return err;
}
