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

int hodo_read_segment_add(struct hodo_stream *s, const char *folder, uint32_t part)
{
	struct hodo_segment *g;

	if (hodo_read_grow(&s->segments, s->nsegments, &s->segments_room, sizeof(*s->segments)) < 0)
		return -ENOMEM;
	g = &s->segments[s->nsegments];
	memset(g, 0, sizeof(*g));
	g->folder = strdup(folder);
	if (!g->folder)
		return -ENOMEM;
	g->part = part;
	g->begin = g->end = s->file_bytes;
	s->nsegments++;
	return 0;
}

int hodo_read_segment_open(struct hodo_stream *s, struct hodo_segment *g)
{
	char path[3 * NAME_MAX + 4];
	struct stat st;
	int fd, len;

	len = snprintf(path, sizeof(path), "%s/%s", g->folder, s->name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	/* Neither a FIFO nor a device may block or act: the flags say so, the type is checked behind. */
	fd = openat(s->trace->reader->dirfd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (g->ino && (st.st_ino != g->ino || st.st_dev != g->dev))) {
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
	uint32_t low, high;

	if (s->nsegments == 0)
		return NULL;
	/* Most often the one before, or the next. */
	if (off >= s->segments[s->at].begin) {
		low = s->at;
		if (low + 1 == s->nsegments || off < s->segments[low + 1].begin)
			return &s->segments[low];
	} else {
		low = 0;
	}
	high = s->nsegments;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (s->segments[middle].begin <= off)
			low = middle;
		else
			high = middle;
	}
	s->at = low;
	return &s->segments[low];
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

uint64_t hodo_read_stream_place(struct hodo_stream *s, uint64_t off)
{
	const struct hodo_segment *g = hodo_read_segment_at(s, off);

	return g ? off - g->begin : off;
}

void hodo_read_segments_free(struct hodo_stream *s)
{
	for (uint32_t i = 0; i < s->nsegments; i++)
		free(s->segments[i].folder);
	free(s->segments);
}

/* Moves the files of from behind those of s, which is the same stream in earlier parts. 0 or -ENOMEM. */
static int join(struct hodo_stream *s, struct hodo_stream *from)
{
	struct hodo_read_lost *l = &s->lost_by_cause;
	const struct hodo_read_lost *m = &from->lost_by_cause;
	uint64_t base = s->file_bytes;

	/* One: what comes is a part's, and only what was there may have several. */
	for (uint32_t i = 0; i < from->nsegments; i++) {
		if (hodo_read_grow(&s->segments, s->nsegments, &s->segments_room, sizeof(*s->segments)) < 0)
			return -ENOMEM;
		s->segments[s->nsegments] = from->segments[i];
		s->segments[s->nsegments].begin += base;
		s->segments[s->nsegments++].end += base;
	}
	from->nsegments = 0; /* their names are the other's now */
	if (s->file_bytes == 0)
		s->head = from->head;
	s->file_bytes += from->file_bytes;
	s->pub.bytes = s->file_bytes;
	l->full += m->full;
	l->too_large += m->too_large;
	l->busy += m->busy;
	l->overwritten += m->overwritten;
	l->unwritten += m->unwritten;
	s->lost_known |= from->lost_known;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct hodo_stream *x = *(struct hodo_stream *const *)a, *y = *(struct hodo_stream *const *)b;

	return strcmp(x->name, y->name);
}

/* Among the first n, which are sorted. */
static struct hodo_stream *find(const struct hodo_trace *t, uint32_t n, struct hodo_stream *wanted)
{
	struct hodo_stream **hit = n ? bsearch(&wanted, t->streams, n, sizeof(*t->streams), by_name) : NULL;

	return hit ? *hit : NULL;
}

#define SWAP(a, b)                    \
	do {                          \
		__typeof__(a) x_ = a; \
		a = b;                \
		b = x_;               \
	} while (0)

int hodo_read_trace_join(struct hodo_trace **earlier, struct hodo_trace *t)
{
	struct hodo_trace *e = *earlier, *base = t;
	uint32_t kept = 0, known = e->nstreams;
	int err = 0;

	if (known)
		qsort(e->streams, known, sizeof(*e->streams), by_name);
	for (uint32_t i = 0; i < t->nstreams; i++) {
		struct hodo_stream *s = t->streams[i], *same = find(e, known, s);

		if (!err && !same)
			err = hodo_read_grow(&e->streams, e->nstreams, &e->streams_room, sizeof(*e->streams));
		else if (!err)
			err = join(same, s);
		if (err || same)
			t->streams[kept++] = s; /* to be freed */
		else
			e->streams[e->nstreams++] = s;
	}
	t->nstreams = kept;
	if (err)
		return err;
	/* The later metadata knows more, unless it was damaged. */
	if (t->nclasses < e->nclasses) {
		base = e;
		e->pub.complete = t->pub.complete;
		e->pub.end_ns = t->pub.end_ns;
	} else {
		SWAP(e->streams, t->streams);
		SWAP(e->nstreams, t->nstreams);
		SWAP(e->streams_room, t->streams_room);
	}
	t = base == t ? e : t;
	base->pub.bytes += t->pub.bytes;
	for (uint32_t i = 0; i < t->nclasses; i++) {
		uint32_t id = t->classes[i]->pub.id;

		if (id < base->by_id_n && base->by_id[id])
			base->by_id[id]->pub.limited += t->classes[i]->pub.limited;
	}
	for (uint32_t i = 0; i < base->nstreams; i++)
		base->streams[i]->trace = base;
	for (uint32_t i = 0; i < t->nstreams; i++)
		t->streams[i]->trace = t;
	base->part = base->part > t->part ? base->part : t->part;
	hodo_read_trace_free(t);
	*earlier = base;
	return 0;
}
