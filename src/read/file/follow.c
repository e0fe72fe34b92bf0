/* SPDX-License-Identifier: MIT */
/*
 * follow.c - reads, step by step, what a recorder adds to a recording: a step looks for folders that are new, and for
 * what has been added to those of processes that have not ended: files, bytes, and lines of metadata. A stream that
 * has been read to its present end leaves the heap, and comes back when it has grown. The recorder replaces the
 * metadata as a whole; its lines keep their order, and new ones come at the end of their kind.
 */
#include "follow.h"
#include "folder.h"
#include "metadata.h"
#include "metadata_line.h"
#include "open.h"
#include "reader.h"
#include "stream.h"

#include <base/map.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <read/event/order.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES (64u << 10)
#define PATH_ROOM    (2 * NAME_MAX + 2)
#define PART         "part-"
#define KNOWN_MAX    (256u << 20) /* bytes, estimated, of what is known of processes: it stays to the end */
#define KNOWN_BYTES  (12u << 10)  /* of one, besides twice its metadata */
#define NAMES_MAX    (1u << 16) /* of threads that have got another one, of one process */

/* A folder that has been seen. */
struct seen {
	struct hodo_bytes path;
	bool done; /* it needs no other look */
};

struct known {
	uint8_t uuid[16];
	struct hodo_trace *trace;
};

struct hodo_follow {
	struct hodo_read *r;
	struct hodo_map seen, known;
	struct hodo_read_clock clock;
	uint32_t order; /* of the next stream */
	char newest[NAME_MAX + 1]; /* part: those before it have been read in whole; "": there is none */
	uint64_t bytes; /* of what is known, estimated */
	uint32_t unfollowed; /* processes for which there was no room */
};

/* ------------------------------------------------------------------------- streams */

static int into_heap(struct hodo_read *r, struct hodo_stream *s)
{
	if (hodo_vec_reserve(r->heap, r->heap_room, r->heap_n + 1) < 0)
		return -ENOMEM;
	s->rests = false;
	s->started = false;
	r->heap[r->heap_n++] = s;
	return 0;
}

static int begin_stream(struct hodo_follow *f, struct hodo_stream *s)
{
	int err;

	s->order = f->order++;
	hodo_read_stream_settle(s);
	hodo_read_stream_start(s, WINDOW_BYTES, false);
	s->event_ns = s->has_begin ? s->pub.begin_ns : INT64_MIN;
	err = hodo_losses_stream_begins(s);
	f->r->nstreams++;
	return err ? err : into_heap(f->r, s);
}

/* Sees how long its last file is by now. Whether it has grown. */
static bool grow(struct hodo_stream *s)
{
	struct hodo_segment *g = s->nsegments ? &s->segments[s->nsegments - 1] : NULL;
	uint64_t before = g ? g->end : 0, end;
	struct stat st;
	int fd;

	if (!g)
		return false;
	fd = hodo_read_segment_open(s, g);
	if (fd < 0)
		return false; /* removed, with its part */
	end = fstat(fd, &st) == 0 && st.st_size > 0 ? g->begin + (uint64_t)st.st_size : g->end;
	close(fd);
	if (end > g->end) {
		s->pub.bytes += end - g->end;
		g->end = s->file_bytes = end;
	}
	return g->end > before;
}

static struct hodo_stream *find_stream(const struct hodo_trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->nstreams; i++)
		if (strcmp(t->streams[i]->pub.name, name) == 0)
			return t->streams[i];
	return NULL;
}

struct listing {
	struct hodo_follow *f;
	struct hodo_trace *trace;
};

/* A file in the trace's present folder: of a stream that is new, or the next one of a stream of earlier parts. */
static int see_file(void *listing, const char *name, enum hodo_tree_kind kind)
{
	struct hodo_follow *f = ((struct listing *)listing)->f;
	struct hodo_trace *t = ((struct listing *)listing)->trace;
	struct hodo_stream *s;
	int err;

	if (kind != HODO_TREE_FILE || name[0] == '.' || strcmp(name, "metadata") == 0 || hodo_frames_name(name) ||
	    t->nstreams == STREAMS_MAX)
		return 0;
	s = find_stream(t, name);
	if (s && s->nsegments && s->segments[s->nsegments - 1].folder == t->folder)
		return 0;
	if (s) {
		/* The recorder has ended the one before: its length is final. */
		err = grow(s) && s->rests ? into_heap(f->r, s) : 0;
		return err ? err : hodo_read_segment_add(s, t, false);
	}
	s = hodo_read_stream_new(t, name);
	err = s ? hodo_read_segment_add(s, t, false) : -ENOMEM;
	if (!err && hodo_read_stream_probe(s) == 0)
		err = begin_stream(f, s);
	return err;
}

static int see_streams(struct hodo_follow *f, struct hodo_trace *t)
{
	struct listing l = { f, t };
	int err = hodo_tree_list(f->r->tree, t->folder, see_file, &l);

	/* A part that --keep has removed. */
	err = err == -ENOMEM ? err : 0;
	for (uint32_t i = 0; i < t->nstreams && !err; i++)
		if (grow(t->streams[i]) && t->streams[i]->rests)
			err = into_heap(f->r, t->streams[i]);
	return err;
}

/* ------------------------------------------------------------------------- metadata */

/* Whether it is another file than at the last look; notes it. */
static bool has_changed(struct hodo_trace *t, const char *path)
{
	struct hodo_tree_file file;
	struct stat st = { 0 };
	int64_t mtime_ns;

	if (hodo_tree_file(t->reader->tree, path, &file) < 0)
		return false;
	fstat(file.fd, &st);
	close(file.fd);
	mtime_ns = st.st_mtim.tv_sec * (int64_t)NS_PER_S + st.st_mtim.tv_nsec;
	if (t->followed.ino == file.ino && t->followed.mtime_ns == mtime_ns && t->followed.bytes == file.bytes)
		return false;
	t->followed.ino = file.ino;
	t->followed.mtime_ns = mtime_ns;
	t->followed.bytes = file.bytes;
	return true;
}

/* -------------------------------------------------------------------------- threads */

static struct hodo_read_thread *find_thread(const struct hodo_trace *t, uint32_t n, uint32_t tid)
{
	const struct hodo_read_thread key = { .tid = tid };

	return n ? bsearch(&key, t->threads, n, sizeof(key), hodo_order_u32) : NULL;
}

/* sorted: how many of t->threads were there at the last look. 0 or -ENOMEM. */
static int take_thread(struct hodo_trace *t, uint32_t sorted, struct hodo_line *l)
{
	uint32_t tid = hodo_line_get_u32(l, "tid"), pid = hodo_line_get_u32(l, "pid");
	struct hodo_read_thread *thread = find_thread(t, sorted, tid);
	const char *comm = hodo_line_get_text(l, "comm");
	uint32_t text;

	if (thread && thread->pid == pid && strcmp(thread->comm, comm) == 0)
		return 0;
	if (t->names.texts.map.n >= NAMES_MAX)
		return 0;
	text = hodo_strings_add(&t->names.texts, comm);
	if (text == HODO_STRINGS_NONE)
		return -ENOMEM;
	thread = thread ? thread : hodo_vec_add(t->threads, t->nthreads);
	if (!thread)
		return -ENOMEM;
	*thread = (struct hodo_read_thread){ .tid = tid, .pid = pid, .comm = hodo_strings_at(&t->names.texts, text) };
	t->names.changes++;
	return 0;
}

/* The last of several for one thread counts, as everywhere. */
static void settle_threads(struct hodo_trace *t)
{
	hodo_order_sort(t->threads, t->nthreads, hodo_order_u32);
	t->pub.threads = t->threads;
	t->pub.nthreads = t->nthreads;
	memset(t->names.recent, 0, sizeof(t->names.recent));
}

/* ----------------------------------------------------------------------------- lines */

struct counts {
	uint32_t labels, objects;
};

/* Whether a line is new, and is understood in the middle of a recording. */
static bool is_new(const struct hodo_trace *t, struct hodo_line *l, struct counts *n)
{
	if (strcmp(l->word, "event") == 0) {
		uint32_t id = hodo_line_get_u32(l, "id");

		return id >= t->by_id_n || !t->by_id[id];
	}
	if (strcmp(l->word, "labels") == 0)
		return n->labels++ >= t->followed.labels;
	if (strcmp(l->word, "object") == 0)
		return n->objects++ >= t->followed.objects;
	return strcmp(l->word, "end") == 0;
}

/* Appends the new lines, and damaged ones; takes the threads. Splits the lines of all. 0 or a negative errno. */
static int find_new(struct hodo_trace *t, const struct hodo_text *all, struct hodo_text *fresh)
{
	const char *at = all->data, *end = at + all->len, *line;
	uint32_t sorted = t->nthreads;
	struct counts n = { 0 };
	size_t len;
	int err = 0;

	while (!err && (line = hodo_line_next(&at, end, &len)) != NULL) {
		char *start = all->data + (line - all->data);
		size_t before = fresh->len;
		struct hodo_line l;

		if (len < 5 || memcmp(line, "/*@", 3) != 0)
			continue;
		hodo_text_bytes(fresh, line, len);
		if (!hodo_line_split(start + 3, start + len - (line[len - 1] == '\n'), &l))
			continue;
		if (strcmp(l.word, "thread") == 0)
			err = take_thread(t, sorted, &l);
		if (!is_new(t, &l, &n))
			fresh->len = before;
	}
	settle_threads(t);
	t->followed.labels = n.labels;
	t->followed.objects = n.objects;
	return err ? err : fresh->error;
}

static int more_metadata(struct hodo_trace *t)
{
	HODO_AUTO(hodo_text_free) struct hodo_text all = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text fresh = { 0 };
	char path[2 * NAME_MAX + 16];
	uid_t owner;
	char *kept;
	int err;

	snprintf(path, sizeof(path), "%s/metadata", t->folder);
	if (t->followed.ino == 0)
		t->followed.objects = t->nobjects;
	if (!has_changed(t, path))
		return 0;
	err = hodo_tree_read(t->reader->tree, path, METADATA_MAX_BYTES, &all, &owner);
	if (err == -ENOMEM)
		return err;
	if (!err)
		err = find_new(t, &all, &fresh);
	if (err) /* removed with its part, perhaps: what was known stays */
		return err == -ENOMEM ? err : 0;
	kept = hodo_arena_copy(&t->memory, fresh.data ? fresh.data : "", fresh.len);
	if (!kept)
		return -ENOMEM;
	t->pub.complete = t->goes_on = false;
	err = hodo_read_trace_more(t, kept, fresh.len);
	t->followed.ended = t->pub.complete && !t->goes_on;
	return err;
}

/* ------------------------------------------------------------------------ processes */

/* Of a process that is new: its trace stays. */
static int add_trace(struct hodo_follow *f, struct hodo_trace *t)
{
	struct hodo_read *r = f->r;
	int err = hodo_vec_push(r->traces, r->ntraces, t);

	if (err) {
		hodo_read_trace_free(t);
		return err;
	}
	f->bytes += KNOWN_BYTES + 2 * t->metadata_bytes;
	t->pub.clock = f->clock;
	hodo_read_trace_settle(t);
	hodo_read_names_clear(&t->names);
	for (uint32_t i = 0; i < t->nstreams && !err; i++)
		err = begin_stream(f, t->streams[i]);
	return err;
}

static int open_folder(struct hodo_follow *f, struct seen *seen, uint32_t part)
{
	struct hodo_trace *t;
	struct known *known;
	int err;

	if (f->bytes >= KNOWN_MAX) {
		f->unfollowed++;
		seen->done = true;
		return 0;
	}
	err = hodo_read_trace_new(f->r, seen->path.data, part, &t); /* -ENODATA: its metadata is not there yet */
	if (err) {
		seen->done = err != -ENODATA && err != -ENOENT && err != -EMFILE && err != -ENFILE;
		return err == -ENOMEM ? err : 0;
	}
	seen->done = true;
	known = hodo_map_add(&f->known, t->pub.uuid, NULL);
	if (known && !known->trace) {
		known->trace = t;
		return add_trace(f, t);
	}
	if (known && known->trace->part < part) {
		known->trace->folder = t->folder;
		known->trace->part = part;
		known->trace->followed.ended = false;
	}
	hodo_read_trace_free(t);
	return known ? 0 : -ENOMEM;
}

/* What a process's folder has by now. */
static int look(struct hodo_follow *f, struct hodo_trace *t)
{
	int err;

	t->pub.clock = f->clock;
	if (t->followed.ended)
		return 0;
	err = see_streams(f, t);
	if (!err)
		err = more_metadata(t);
	if (err || !t->followed.ended)
		return err;
	/* When it says so all of it is there, but may have come since the look. */
	return see_streams(f, t);
}

/* -------------------------------------------------------------------------- folders */

struct folders {
	struct hodo_follow *f;
	const char *dir; /* "": the recording's own */
	uint32_t part;
	char (*parts)[NAME_MAX + 1]; /* from the newest known on */
	uint32_t nparts;
};

static bool is_part(const char *name)
{
	size_t digits = strncmp(name, PART, strlen(PART)) == 0 ? strspn(name + strlen(PART), "0123456789") : 0;

	return digits >= 4 && digits <= 10 && !name[strlen(PART) + digits];
}

static int see_folder(void *folders, const char *name, enum hodo_tree_kind kind)
{
	struct folders *l = folders;
	char path[PATH_ROOM];
	struct seen *seen;
	int len;

	if (kind != HODO_TREE_DIR || name[0] == '.')
		return 0;
	if (!*l->dir && is_part(name)) {
		char (*part)[NAME_MAX + 1];

		if (strverscmp(name, l->f->newest) < 0)
			return 0;
		part = hodo_vec_add(l->parts, l->nparts);
		if (part)
			snprintf(*part, sizeof(*part), "%s", name);
		return part ? 0 : -ENOMEM;
	}
	len = snprintf(path, sizeof(path), "%s%s%s", l->dir, *l->dir ? "/" : "", name);
	seen = len < (int)sizeof(path) ? hodo_map_add_bytes(&l->f->seen, path, (size_t)len, NULL) : NULL;
	if (!seen)
		return -ENOMEM;
	return seen->done ? 0 : open_folder(l->f, seen, l->part);
}

static int by_text(const void *a, const void *b)
{
	return strverscmp(a, b);
}

/* In their order; the one with this name, which may be new. Its number in r->parts; 0: no memory. */
static uint32_t part_of(struct hodo_read *r, const char *name)
{
	struct hodo_read_part *p;

	for (uint32_t i = r->nparts; i-- > 1;)
		if (strcmp(r->parts[i].name, name) == 0)
			return i;
	name = hodo_arena_copy(&r->memory, name, strlen(name));
	p = name ? hodo_vec_add(r->parts, r->nparts) : NULL;
	if (!p)
		return 0;
	p->size = sizeof(*p);
	p->name = name;
	return r->nparts - 1;
}

static int see_part(struct folders *l, const char *name)
{
	struct hodo_follow *f = l->f;
	int err;

	/* The one before has been read in whole, and its folders' names are not needed any more. */
	if (*f->newest && strcmp(f->newest, name) != 0)
		hodo_map_clear(&f->seen);
	snprintf(f->newest, sizeof(f->newest), "%s", name);
	l->dir = name;
	l->part = part_of(f->r, name);
	err = l->part ? hodo_tree_list(f->r->tree, name, see_folder, l) : -ENOMEM;
	/* It may have been removed. */
	err = err == -ENOMEM ? err : 0;
	for (uint32_t i = 0; i < f->r->ntraces && !err; i++)
		if (f->r->traces[i]->part == l->part)
			err = look(f, f->r->traces[i]);
	return err;
}

static int see_folders(struct hodo_follow *f)
{
	struct folders l = { .f = f, .dir = "" };
	int err = hodo_tree_list(f->r->tree, ".", see_folder, &l);

	for (uint32_t i = 0; i < f->r->ntraces && !err; i++)
		if (f->r->traces[i]->part == 0)
			err = look(f, f->r->traces[i]);
	hodo_order_sort(l.parts, l.nparts, by_text);
	for (uint32_t i = 0; i < l.nparts && !err; i++)
		err = see_part(&l, l.parts[i]);
	free(l.parts);
	return err;
}

/* ------------------------------------------------------------------------------ steps */

static void free_follow(struct hodo_follow *f)
{
	hodo_map_free(&f->seen);
	hodo_map_free(&f->known);
	free(f);
}

int hodo_read_follow(struct hodo_read **reader, const char *path, const struct hodo_read_options *options)
{
	struct hodo_follow *f = calloc(1, sizeof(*f));
	int err = f ? hodo_read_open_empty(reader, path, options) : -ENOMEM;

	if (err) {
		free(f);
		return err;
	}
	hodo_hash_seed();
	f->r = *reader;
	f->seen = (struct hodo_map)HODO_MAP_BYTES(struct seen);
	f->known = (struct hodo_map)HODO_MAP(struct known, uuid);
	f->clock = (struct hodo_read_clock){ HODO_CLOCK_MONOTONIC, NS_PER_S, 0, 0 };
	f->r->follow = f;
	f->r->follow_free = free_follow;
	f->r->goes_on = true;
	f->r->running = true;
	f->r->upto_ns = INT64_MIN;
	return 0;
}

int hodo_read_follow_on(struct hodo_read *r, const struct hodo_read_clock *clock, uint64_t ticks)
{
	struct hodo_follow *f = r->follow;
	int err;

	f->clock = *clock;
	r->goes_on = ticks != UINT64_MAX;
	r->upto_ns = !r->goes_on ? INT64_MAX : hodo_read_clock_ns(clock, ticks);
	err = see_folders(f);
	for (uint32_t i = 0; i < r->ntraces && !err; i++)
		for (uint32_t k = 0; k < r->traces[i]->nstreams; k++)
			hodo_read_clock_near_set(&r->traces[i]->streams[k]->near, clock, 0);
	/* At the end each of them ends once. */
	for (uint32_t i = 0; !r->goes_on && i < r->ntraces && !err; i++)
		for (uint32_t k = 0; k < r->traces[i]->nstreams && !err; k++)
			if (r->traces[i]->streams[k]->rests)
				err = into_heap(r, r->traces[i]->streams[k]);
	hodo_read_heap_settle(r);
	if (err)
		r->failed = err;
	return err;
}

uint64_t hodo_read_follow_missed(const struct hodo_read *r, uint32_t *processes)
{
	uint64_t missed = 0;

	*processes = r->follow->unfollowed;
	for (uint32_t i = 0; i < r->ntraces; i++)
		for (uint32_t k = 0; k < r->traces[i]->nstreams; k++)
			missed += r->traces[i]->streams[k]->events_gap;
	return missed;
}
