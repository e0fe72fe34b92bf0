/* SPDX-License-Identifier: MIT */
/*
 * segments.c - the files of a stream. In a recording with parts, each part holds a file of the stream; here,
 * offsets continue from one to the next, so that the rest of the library sees one stream. A packet never
 * spans two files.
 */
#include "segments.h"
#include "reader.h"
#include "stream.h"

#include <base/vec.h>
#include <core/search.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hodo_read_segment_add(struct hodo_stream *s, const struct hodo_trace *t, bool suffixed)
{
	struct hodo_segment g = { .folder = t->folder, .part = t->part, .begin = s->file_bytes, .end = s->file_bytes,
				  .suffixed = suffixed };

	return hodo_vec_push(s->segments, s->nsegments, g);
}

/* Determines what it is when it is first opened. */
static int settle(struct hodo_stream *s, struct hodo_segment *g, const struct hodo_tree_file *file)
{
	uint64_t size = file->bytes;
	int err = 0;

	g->disk_bytes = size;
	if (file->compressed) {
		err = hodo_frames_open(&g->frames, &s->trace->reader->frames, file->fd, file->at, size);
		size = err ? 0 : hodo_frames_size(g->frames);
	}
	if (err)
		return err;
	g->ino = file->ino;
	g->dev = file->dev;
	g->end = g->begin + size;
	s->file_bytes = g->end;
	s->pub.bytes += g->disk_bytes;
	return 0;
}

int hodo_read_segment_open(struct hodo_stream *s, struct hodo_segment *g)
{
	char path[HODO_FOLDER_ROOM + NAME_MAX];
	struct hodo_tree_file file;
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s%s", g->folder, s->pub.name,
			     g->suffixed ? HODO_FRAMES_SUFFIX : "") >= sizeof(path))
		return -ENAMETOOLONG;
	err = hodo_tree_file(s->trace->reader->tree, path, &file);
	if (err)
		return err;
	if (!g->ino)
		err = settle(s, g, &file);
	else if (file.ino != g->ino || file.dev != g->dev)
		err = -ESTALE;
	if (err)
		close(file.fd);
	return err ? err : file.fd;
}

struct hodo_segment *hodo_read_segment_at(struct hodo_stream *s, uint64_t off)
{
	uint32_t at = s->at, behind;

	if (s->nsegments == 0)
		return NULL;
	/* Usually it is the same one. */
	if (off < s->segments[at].begin || (at + 1 < s->nsegments && off >= s->segments[at + 1].begin)) {
		behind = hodo_search(i, s->nsegments, s->segments[i].begin > off);
		s->at = behind ? behind - 1 : 0;
	}
	return &s->segments[s->at];
}

struct hodo_segment *hodo_read_segment_enter(struct hodo_stream *s, uint64_t *off)
{
	struct hodo_segment *g = hodo_read_segment_at(s, *off);

	while (g && *off >= g->end) {
		uint32_t next = (uint32_t)(g - s->segments) + 1;

		g = next < s->nsegments ? &s->segments[next] : NULL;
		if (g) {
			s->at = next;
			*off = g->begin;
		}
	}
	return g;
}

unsigned long long hodo_read_stream_place(struct hodo_stream *s, uint64_t off)
{
	const struct hodo_segment *g = hodo_read_segment_at(s, off);

	return g ? off - g->begin : off;
}

void hodo_read_segments_forget(struct hodo_stream *s)
{
	for (uint32_t i = 0; i < s->nsegments; i++) {
		struct hodo_segment *g = &s->segments[i];
		struct hodo_read_part *p = &s->trace->reader->parts[g->part];

		p->packets -= g->packets;
		p->events -= g->events;
		g->packets = g->events = 0;
	}
}

void hodo_read_segment_note(struct hodo_stream *s, struct hodo_segment *g, int64_t begin_ns)
{
	struct hodo_read_part *p = &s->trace->reader->parts[g->part];

	if (p->packets == 0 || begin_ns < p->begin_ns)
		p->begin_ns = begin_ns;
	if (p->packets == 0 || s->pub.end_ns > p->end_ns)
		p->end_ns = s->pub.end_ns;
	p->packets++;
	p->events += s->head.events;
	g->packets++;
	g->events += s->head.events;
}

void hodo_read_segment_take_back(struct hodo_stream *s, uint64_t events)
{
	struct hodo_segment *g = &s->segments[s->walked];

	s->trace->reader->parts[g->part].events -= events;
	g->events -= events;
}

/* ----------------------------------------------------------------------- missing parts */

uint64_t hodo_read_parts_missing(const struct hodo_read *r, uint32_t part)
{
	const char *name = r->parts[part].name, *before = part ? r->parts[part - 1].name : NULL;
	size_t number_at = before ? (size_t)(strrchr(name, '-') + 1 - name) : 0;
	uint64_t number, last;

	if (!before || strncmp(before, name, number_at) != 0)
		return 0;
	number = strtoull(name + number_at, NULL, 10);
	last = strtoull(before + number_at, NULL, 10);
	return number > last ? number - last - 1 : 0;
}

bool hodo_read_segment_missing(const struct hodo_stream *s, const struct hodo_segment *from,
			       const struct hodo_segment *to)
{
	for (uint32_t i = from->part + 1; i <= to->part; i++)
		if (hodo_read_parts_missing(s->trace->reader, i) > 0)
			return true;
	return false;
}
