/* SPDX-License-Identifier: MIT */
/* folder.c - one COMM-PID folder: its metadata, its streams, its threads, its short objects. */
#include "folder.h"
#include "class.h"
#include "labels.h"
#include "layout.h"
#include "metadata.h"
#include "packets.h"
#include "reader.h"
#include "stream.h"

#include <base/order.h>
#include <read/event/role.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams are all files except the metadata and those that start with a dot, as in other CTF readers. */
static int add_stream(void *trace, const char *name, enum hodo_tree_kind kind)
{
	struct hodo_trace *t = trace;
	char plain[NAME_MAX + 1];
	size_t len = hodo_frames_name(name);
	struct hodo_stream *s;

	(void)kind; /* for anything but files, warns that it is skipped */
	if (name[0] == '.' || strcmp(name, "metadata") == 0 || t->nstreams == STREAMS_MAX)
		return 0;
	snprintf(plain, sizeof(plain), "%.*s", len ? (int)len : NAME_MAX, name);
	s = hodo_read_stream_new(t, plain);
	return s ? hodo_read_segment_add(s, t, len > 0) : -ENOMEM;
}

static int list_streams(struct hodo_trace *t)
{
	int err = hodo_tree_list(t->reader->tree, t->folder, add_stream, t);

	hodo_read_streams_sort(t);
	return err;
}

/* If a stream exists compressed and uncompressed, only one is read. */
static bool is_double(struct hodo_trace *t, uint32_t kept, struct hodo_stream *s)
{
	if (!kept || strcmp(t->streams[kept - 1]->pub.name, s->pub.name) != 0)
		return false;
	hodo_read_warn(t->reader, &t->warned, 0, t->folder, s->pub.name, "is there twice, once compressed: one is skipped");
	return true;
}

/* Sizes first, then the metadata, which by then has every id in the streams. */
static void probe_streams(struct hodo_trace *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->nstreams; i++) {
		struct hodo_stream *s = t->streams[i];

		if (is_double(t, kept, s) || hodo_read_stream_probe(s) != 0) {
			hodo_read_stream_free(s);
			continue;
		}
		t->pub.bytes += s->pub.bytes;
		t->streams[kept++] = s;
	}
	t->nstreams = t->nfiles = kept;
}

const struct hodo_read_layouts *hodo_layouts_of(const struct hodo_read_process *process)
{
	return hodo_trace_of(process)->layouts;
}

static int read_metadata(struct hodo_trace *t, const char *path)
{
	struct hodo_text text = { 0 };
	int err = hodo_tree_read(t->reader->tree, path, METADATA_MAX_BYTES, &text, &t->pub.owner);

	hodo_text_string(&text);
	t->metadata = text.data;
	t->metadata_bytes = text.len;
	t->pub.bytes += text.len;
	return err == -ENOENT ? -ENODATA : err == -EFBIG || err == -ESTALE ? -EBADMSG : err;
}

static int by_id(const void *a, const void *b)
{
	const struct hodo_class *x = *(struct hodo_class *const *)a, *y = *(struct hodo_class *const *)b;

	return hodo_order(x->pub.id, y->pub.id);
}

/* Those that came from that one on. */
static int settle_classes(struct hodo_trace *t, uint32_t from)
{
	int err = 0;

	for (uint32_t i = from; i < t->nclasses && !err; i++) {
		struct hodo_class *c = t->classes[i];

		err = hodo_read_labels_attach(&t->labels, c->pub.name, c->fields, c->pub.nfields);
		if (!err)
			err = hodo_read_class_finish(&t->memory, c);
		if (!err)
			err = hodo_read_role_settle(&t->bases, &t->pub, c);
	}
	hodo_order_sort(t->classes, t->nclasses, by_id);
	return err;
}

/* By tid; the last of several lines for one is the newest, and comes first. */
static int by_tid(const void *a, const void *b)
{
	const struct hodo_read_thread *x = a, *y = b;

	return hodo_order(x->tid, y->tid) ?: hodo_order(y->comm, x->comm); /* places in the metadata */
}

static void settle_threads(struct hodo_trace *t)
{
	uint32_t kept = 0;

	hodo_order_sort(t->threads, t->nthreads, by_tid);
	for (uint32_t i = 0; i < t->nthreads; i++)
		if (kept == 0 || t->threads[kept - 1].tid != t->threads[i].tid)
			t->threads[kept++] = t->threads[i];
	t->nthreads = kept;
}

static int by_start(const void *a, const void *b)
{
	const struct hodo_read_object *x = a, *y = b;

	return hodo_order(x->start, y->start) ?:
	       hodo_order(x->from_ns, y->from_ns) ?:
	       hodo_order(x->path, y->path); /* places in the metadata */
}

/* Sets the times of those that came from that one on, and sorts all. */
static void settle_objects(struct hodo_trace *t, uint32_t from_object)
{
	for (uint32_t i = from_object; i < t->nobjects; i++) {
		struct hodo_read_object *o = &t->objects[i];
		uint64_t from = (uint64_t)o->from_ns, until = (uint64_t)o->until_ns;

		o->from_ns = from ? hodo_read_clock_ns(&t->pub.clock, from) : INT64_MIN;
		o->until_ns = until != UINT64_MAX ? hodo_read_clock_ns(&t->pub.clock, until) : INT64_MAX;
	}
	hodo_order_sort(t->objects, t->nobjects, by_start);
}

/* Arrays of pointers to the public parts, which are the first members. */
static void publish(struct hodo_trace *t)
{
	struct hodo_read_process *p = &t->pub;

	p->classes = (const struct hodo_read_class *const *)(const void *)t->classes;
	p->nclasses = t->nclasses;
	p->threads = t->threads;
	p->nthreads = t->nthreads;
	p->streams = (const struct hodo_read_stream *const *)(const void *)t->streams;
	p->nstreams = t->nstreams;
	p->objects = t->objects;
	p->nobjects = t->nobjects;
	p->warnings = (const char *const *)t->warnings;
	p->nwarnings = t->nwarnings;
}

static int open_trace(struct hodo_trace *t)
{
	char path[HODO_FOLDER_ROOM];
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s/metadata", t->folder) >= sizeof(path))
		return -ENAMETOOLONG;
	if (!hodo_tree_has(t->reader->tree, path))
		return -ENODATA;
	t->pub.size = sizeof(t->pub);
	t->pub.folder = t->reader->single ? "" : t->folder;
	t->pub.comm = t->pub.exe = "";
	t->pub.clock = (struct hodo_read_clock){ HODO_CLOCK_MONOTONIC, NS_PER_S, 0, 0 };
	t->layouts = hodo_read_layouts_new();
	if (!t->layouts)
		return -ENOMEM;
	err = list_streams(t);
	if (err)
		return err;
	probe_streams(t);
	err = read_metadata(t, path);
	if (!err)
		err = hodo_read_metadata_parse(t);
	if (!err)
		err = settle_classes(t, 0);
	if (err)
		return err;
	settle_threads(t);
	settle_objects(t, 0);
	return 0;
}

int hodo_read_trace_new(struct hodo_read *r, const char *folder, uint32_t part, struct hodo_trace **trace)
{
	struct hodo_trace *t = calloc(1, sizeof(*t));
	int err;

	*trace = t;
	if (!t)
		return -ENOMEM;
	t->reader = r;
	t->part = part;
	t->folder = hodo_arena_copy(&r->memory, folder, strlen(folder));
	err = t->folder ? open_trace(t) : -ENOMEM;
	if (err) {
		hodo_read_trace_free(t);
		*trace = NULL;
	}
	return err;
}

int hodo_packets_open(struct hodo_read *reader, const char *path)
{
	struct hodo_trace *t = reader->traces[0];
	struct hodo_tree *tree;
	int err = hodo_tree_open(&tree, path);

	if (err)
		return err;
	hodo_tree_close(reader->tree);
	reader->tree = tree;
	while (t->nstreams)
		hodo_read_stream_free(t->streams[--t->nstreams]);
	err = list_streams(t);
	if (!err)
		probe_streams(t);
	publish(t);
	return err;
}

void hodo_read_trace_settle(struct hodo_trace *t)
{
	/* If they come from several parts, those without a file are among the others. */
	if (t->reader->nparts > 1) {
		hodo_read_streams_sort(t);
		t->pub.complete &= !t->goes_on;
	}
	for (uint32_t i = 0; i < t->nstreams; i++)
		hodo_read_stream_settle(t->streams[i]);
	publish(t);
}

int hodo_read_trace_more(struct hodo_trace *t, char *text, size_t len)
{
	uint32_t classes = t->nclasses, objects = t->nobjects;
	char *metadata = t->metadata;
	size_t bytes = t->metadata_bytes;
	int err;

	t->metadata = text;
	t->metadata_bytes = len;
	err = hodo_read_metadata_parse(t);
	t->metadata = metadata;
	t->metadata_bytes = bytes;
	if (!err)
		err = settle_classes(t, classes);
	settle_objects(t, objects);
	publish(t);
	return err;
}

void hodo_read_trace_free(struct hodo_trace *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nstreams; i++)
		hodo_read_stream_free(t->streams[i]);
	hodo_read_labels_free(&t->labels);
	hodo_read_names_free(&t->names);
	hodo_read_layouts_free(t->layouts);
	free(t->streams);
	free(t->classes);
	free(t->by_id);
	free(t->threads);
	free(t->warnings);
	free(t->objects);
	free(t->shorts.object);
	hodo_losses_free(&t->losses);
	free(t->metadata);
	hodo_strings_free(&t->bases);
	hodo_arena_free(&t->memory);
	free(t);
}
