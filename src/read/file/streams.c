/* SPDX-License-Identifier: MIT */
/* streams.c - the streams of a trace by name, and the short objects that their calls' addresses are in. */
#include <read/read_impl.h>

#include <stdlib.h>

#define LOST_ONLY_MAX 1024u /* streams without a file */

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
	if (t->nstreams)
		qsort(t->streams, t->nstreams, sizeof(*t->streams), by_name);
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

/* ---------------------------------------------------------------------------------------- short objects */

#define PLACE_BITS 14 /* addresses of 16 KiB share a place in shorts->near */

static bool has(const struct hodo_short *o, uint64_t bits, uint64_t ticks, uint64_t *address)
{
	*address = o->start + ((bits - o->start) & (HODO_SHORT_SPAN - 1));
	return *address < o->end && ticks >= o->from && ticks < o->until;
}

uint64_t hodo_read_shorts_address(struct hodo_shorts *shorts, uint64_t bits, uint64_t ticks)
{
	uint32_t *near = &shorts->near[bits >> PLACE_BITS & (sizeof(shorts->near) / sizeof(*shorts->near) - 1)];
	uint64_t address;

	if (*near < shorts->n && has(&shorts->object[*near], bits, ticks, &address))
		return address;
	for (uint32_t i = 0; i < shorts->n; i++) {
		if (has(&shorts->object[i], bits, ticks, &address)) {
			*near = i;
			return address;
		}
	}
	return bits;
}
