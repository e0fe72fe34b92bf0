/* SPDX-License-Identifier: MIT */
/*
 * segments.c - the files of a stream. In a recording that has parts each of them holds
 * a file of the stream; here their bytes count on from one to the next, so that the
 * rest of the library sees one stream. A packet never goes from one file into another.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <core/search.h>

int hodo_read_segment_add(struct hodo_stream *s, const struct hodo_trace *t)
{
	struct hodo_segment g = { .folder = t->folder, .part = t->part, .begin = s->file_bytes, .end = s->file_bytes };

	return hodo_vec_push(s->segments, s->nsegments, g);
}

int hodo_read_segment_open(struct hodo_stream *s, struct hodo_segment *g)
{
	char path[3 * NAME_MAX + 4];
	struct stat st;
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", g->folder, s->pub.name) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = hodo_file_open(s->trace->reader->dirfd, path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || (g->ino && (st.st_ino != g->ino || st.st_dev != g->dev))) {
		close(fd);
		return -ESTALE;
	}
	if (!g->ino) {
		g->ino = st.st_ino;
		g->dev = st.st_dev;
		g->end = g->begin + (uint64_t)st.st_size;
		s->file_bytes = g->end;
	}
	return fd;
}

struct hodo_segment *hodo_read_segment_at(struct hodo_stream *s, uint64_t off)
{
	uint32_t at = s->at, behind;

	if (s->nsegments == 0)
		return NULL;
	/* Most often it is the same one. */
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
