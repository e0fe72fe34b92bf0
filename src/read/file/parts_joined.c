/* SPDX-License-Identifier: MIT */
/* parts_joined.c - joins a process's folders in several parts of a recording into one trace. */
#include <read/read_impl.h>

#include <errno.h>

/* Moves the files of from after those of s, the same stream in earlier parts. 0 or -ENOMEM. */
static int join(struct hodo_stream *s, struct hodo_stream *from)
{
	uint64_t base = s->file_bytes;

	/* Only one: from is a single part's; only s may have several. */
	for (uint32_t i = 0; i < from->nsegments; i++) {
		struct hodo_segment *g = hodo_vec_add(s->segments, s->nsegments);

		if (!g)
			return -ENOMEM;
		*g = from->segments[i];
		from->segments[i].frames = NULL;
		g->begin += base;
		g->end += base;
	}
	if (s->file_bytes == 0) {
		s->head = from->head;
		s->first = from->first;
	}
	s->file_bytes += from->file_bytes;
	s->pub.bytes += from->pub.bytes;
	hodo_read_lost_add(&s->lost_by_cause, &from->lost_by_cause);
	s->lost_known |= from->lost_known;
	if (from->pub.room > s->pub.room)
		s->pub.room = from->pub.room;
	return 0;
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

	hodo_read_streams_sort(e);
	for (uint32_t i = 0; i < t->nstreams; i++) {
		struct hodo_stream *s = t->streams[i], *same = hodo_read_streams_find(e, known, s->pub.name);

		if (!err && !same)
			err = hodo_vec_push(e->streams, e->nstreams, s);
		else if (!err)
			err = join(same, s);
		if (err || same)
			t->streams[kept++] = s; /* to be freed */
	}
	t->nstreams = kept;
	if (err)
		return err;
	/* The later metadata knows more, unless it was damaged. */
	if (t->nclasses < e->nclasses) {
		base = e;
		e->pub.complete = t->pub.complete;
		e->goes_on = t->goes_on;
		e->pub.end_ns = t->pub.end_ns;
	} else {
		SWAP(e->streams, t->streams);
		SWAP(e->nstreams, t->nstreams);
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
