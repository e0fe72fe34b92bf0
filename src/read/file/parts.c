/* SPDX-License-Identifier: MIT */
/*
 * parts.c - the folders of a recording: of processes; parts, which contain folders of processes and are read
 * as one; snapshots, read separately; hosts, each of which has a recording of its own.
 */
#include "parts.h"
#include "class.h"
#include "folder.h"
#include "hosts.h"
#include "reader.h"
#include "stream.h"

#include <base/map.h>
#include <base/order.h>
#include <base/vec.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDERS_MAX 65536u
#define PATH_ROOM   HODO_FOLDER_ROOM

/* Names of directories, sorted. */
struct folders {
	const char **names; /* the reader's */
	uint32_t n;
	uint32_t links; /* symbolic ones, not followed */
};

/* Traces by uuid. */
struct by_uuid {
	uint8_t uuid[16];
	uint32_t trace; /* the first one: its index in hodo_read.traces + 1; 0: none yet */
};

#define warn(r, folder, ...) hodo_read_warn(r, NULL, 0, folder, "", __VA_ARGS__)

static const char *folder_fault(int err)
{
	switch (-err) {
	case ENODATA:
		return "no metadata";
	case EPROTO:
		return "a CTF trace of another tool";
	case EPROTONOSUPPORT:
		return "written by another version, or on a machine of the other byte order";
	case EBADMSG:
		return "metadata damaged";
	default:
		return strerror(-err);
	}
}

/* -------------------------------------------------------------------- what there is */

static int by_text(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* A copy that stays. */
static const char *keep(struct hodo_read *r, const char *name)
{
	return hodo_arena_copy(&r->memory, name, strlen(name));
}

struct listing {
	struct hodo_read *r;
	const char *dir;
	struct folders *f;
	bool full;
};

static int add_name(void *listing, const char *name, enum hodo_tree_kind kind)
{
	struct listing *l = listing;

	if (name[0] == '.')
		return 0;
	l->f->links += kind == HODO_TREE_LINK;
	if (kind != HODO_TREE_DIR || l->full)
		return 0;
	if (l->f->n == FOLDERS_MAX) {
		warn(l->r, l->dir, "more than %u directories: the others are skipped", FOLDERS_MAX);
		l->full = true;
		return 0;
	}
	name = keep(l->r, name);
	return name ? hodo_vec_push(l->f->names, l->f->n, name) : -ENOMEM;
}

/* The directories in dir, which is "." or one in the recording. */
static int list_folders(struct hodo_read *r, const char *dir, struct folders *f)
{
	struct listing l = { r, dir, f, false };
	int err = hodo_tree_list(r->tree, dir, add_name, &l);

	hodo_order_sort(f->names, f->n, by_text);
	return err;
}

/* A program may also have such a name: its folder has metadata. */
static bool is_piece(const struct hodo_read *r, const char *dir, const char *name, const char *start)
{
	size_t len = strlen(start), digits;
	char path[PATH_ROOM];

	if (strncmp(name, start, len) != 0)
		return false;
	digits = strspn(name + len, "0123456789");
	if (strcmp(start, HODO_HOST_FOLDER) != 0 && (digits < 4 || digits > 10 || name[len + digits]))
		return false;
	snprintf(path, sizeof(path), "%s/%s/metadata", dir, name);
	return !hodo_tree_has(r->tree, path);
}

/* Moves the names of pieces in dir to `to`. */
static int take_pieces(const struct hodo_read *r, const char *dir, struct folders *f, const char *start,
		       struct folders *to)
{
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		if (err || !is_piece(r, dir, f->names[i], start))
			f->names[kept++] = f->names[i];
		else
			err = hodo_vec_push(to->names, to->n, f->names[i]);
	}
	f->n = kept;
	return err;
}

/* ------------------------------------------------------------------------- one process in several parts */

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

/* Joins the traces of one process in an earlier and a later part into *earlier. 0, or -ENOMEM: then free both. */
static int join_traces(struct hodo_trace **earlier, struct hodo_trace *t)
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

/* ------------------------------------------------------------------------ one process */

/* Adds the trace, or joins it to that of the same process in an earlier part. */
static int add_trace(struct hodo_read *r, struct hodo_map *u, struct hodo_trace *t)
{
	struct by_uuid *known = hodo_map_add(u, t->pub.uuid, NULL);

	/* A part has each process once: a second folder is a copy. */
	if (known && known->trace && r->traces[known->trace - 1]->part < t->part)
		return join_traces(&r->traces[known->trace - 1], t);
	if (!known || hodo_vec_push(r->traces, r->ntraces, t) < 0)
		return -ENOMEM;
	if (!known->trace)
		known->trace = r->ntraces;
	return 0;
}

/* Opens one folder and adds it. 0 or a negative errno. */
static int add_folder(struct hodo_read *r, struct hodo_map *u, const char *folder, uint32_t part)
{
	struct hodo_trace *t;
	int err = hodo_read_trace_new(r, folder, part, &t);

	if (err)
		return err;
	r->parts[part].processes++;
	r->parts[part].bytes += t->pub.bytes;
	err = add_trace(r, u, t);
	if (err)
		hodo_read_trace_free(t);
	return err;
}

/* ----------------------------------------------------------------------- all of them */

/* Opens the folders of processes in dir. why: what is wrong with unreadable ones. 0, or a fatal error. */
static int open_folders(struct hodo_read *r, struct hodo_map *u, const char *dir, const struct folders *f,
			uint32_t part, int *why)
{
	int *faults = calloc(f->n + 1, sizeof(*faults)), err = faults ? 0 : -ENOMEM;
	bool top = strcmp(dir, ".") == 0;
	char path[PATH_ROOM];

	for (uint32_t i = 0; i < f->n && !err; i++) {
		snprintf(path, sizeof(path), "%s%s%s", top ? "" : dir, top ? "" : "/", f->names[i]);
		faults[i] = add_folder(r, u, path, part);
		if (faults[i] == -ENOMEM)
			err = -ENOMEM;
		else if (faults[i] < 0 && faults[i] != -ENODATA)
			*why = faults[i];
	}
	/* Foreign folders are only worth a warning beside ours. */
	for (uint32_t i = 0; i < f->n && !err; i++) {
		snprintf(path, sizeof(path), "%s%s%s", top ? "" : dir, top ? "" : "/", f->names[i]);
		if (faults[i] < 0 && (faults[i] != -ENODATA || r->ntraces > 0))
			warn(r, path, "%s: skipped", folder_fault(faults[i]));
	}
	free(faults);
	return err;
}

/* name: NULL for folders outside of parts. */
static int add_part(struct hodo_read *r, const char *name)
{
	struct hodo_read_part *p = hodo_vec_add(r->parts, r->nparts);

	if (!p)
		return -ENOMEM;
	p->size = sizeof(*p);
	p->name = name;
	return 0;
}

static int open_piece(struct hodo_read *r, struct hodo_map *u, const char *name, uint32_t part, int *why)
{
	struct folders f = { 0 };
	int err = list_folders(r, name, &f);

	if (err == -ENOMEM)
		;
	else if (err) { /* a part that --keep has just removed */
		warn(r, name, "%s: skipped", strerror(-err));
		err = 0;
	} else {
		err = open_folders(r, u, name, &f, part, why);
	}
	free(f.names);
	return err;
}

static void warn_missing(struct hodo_read *r, uint32_t part)
{
	unsigned long long n = hodo_read_parts_missing(r, part);

	if (n > 0)
		warn(r, r->parts[part].name, "%llu part%s before it %s missing: the events that are known to be in %s count as damaged",
		     n, n == 1 ? "" : "s", n == 1 ? "is" : "are", n == 1 ? "it" : "them");
}

/* Those in dir. */
static int open_parts(struct hodo_read *r, struct hodo_map *u, const char *dir, const struct folders *parts, int *why)
{
	bool top = strcmp(dir, ".") == 0;
	char path[PATH_ROOM];
	int err = 0;

	for (uint32_t i = 0; i < parts->n && !err; i++) {
		const char *name = parts->names[i];

		if (!top) {
			snprintf(path, sizeof(path), "%s/%s", dir, name);
			name = keep(r, path);
		}
		err = name ? add_part(r, name) : -ENOMEM;
		if (!err)
			warn_missing(r, r->nparts - 1);
		if (!err)
			err = open_piece(r, u, name, r->nparts - 1, why);
	}
	return err;
}

/* The recording of one host, whose processes are none of other hosts, whatever their uuids: a copied machine. */
static int open_host(struct hodo_read *r, const char *host, int *why)
{
	struct hodo_map u = HODO_MAP(struct by_uuid, uuid);
	struct folders f = { 0 }, parts = { 0 }, snapshots = { 0 };
	uint32_t before = r->ntraces;
	int err = list_folders(r, host, &f);

	if (!err)
		err = take_pieces(r, host, &f, "part-", &parts);
	if (!err)
		err = take_pieces(r, host, &f, "snapshot-", &snapshots);
	if (!err)
		err = open_folders(r, &u, host, &f, 0, why);
	if (!err)
		err = open_parts(r, &u, host, &parts, why);
	/* As if it were opened alone; but there, several are an error. */
	if (!err && snapshots.n == 1 && r->ntraces == before) {
		char path[PATH_ROOM];

		snprintf(path, sizeof(path), "%s/%s", host, snapshots.names[0]);
		err = open_piece(r, &u, path, 0, why);
	}
	if (err && err != -ENOMEM) {
		warn(r, host, "%s: skipped", strerror(-err));
		err = 0;
	}
	hodo_map_free(&u);
	free(f.names);
	free(parts.names);
	free(snapshots.names);
	return err;
}

static int open_snapshots(struct hodo_read *r, struct hodo_map *u, const struct folders *f, int *why)
{
	if (r->ntraces > 0) {
		warn(r, ".", "%u snapshots in it are separate recordings: %s%s is not read", f->n, f->names[0],
		     f->n > 1 ? " …" : "");
		return 0;
	}
	if (f->n == 1)
		return open_piece(r, u, f->names[0], 0, why);
	snprintf(r->several, sizeof(r->several), "%.300s has %u snapshots, %.40s to %.40s: name one of them, as %.300s/%.40s",
		 r->path, f->n, f->names[0], f->names[f->n - 1], r->path, f->names[f->n - 1]);
	return -ENOTUNIQ;
}

/* Bytes of the host's folder in front of the others. */
static size_t host_bytes(const char *folder)
{
	bool host = strncmp(folder, HODO_HOST_FOLDER, sizeof(HODO_HOST_FOLDER) - 1) == 0;
	const char *slash = host ? strchr(folder, '/') : NULL;

	return slash ? (size_t)(slash - folder) : 0;
}

/* By host, and then by the folder's own name, as if there were no parts. */
static int by_folder(const void *a, const void *b)
{
	const char *x = (*(struct hodo_trace *const *)a)->folder, *y = (*(struct hodo_trace *const *)b)->folder;
	const char *p = strrchr(x, '/'), *q = strrchr(y, '/');
	size_t n = host_bytes(x);
	int order = n != host_bytes(y) || strncmp(x, y, n) != 0 ? strverscmp(x, y) :
								  strverscmp(p ? p + 1 : x, q ? q + 1 : y);

	return order ? order : strverscmp(x, y);
}

int hodo_read_open_single(struct hodo_read *r)
{
	struct hodo_map u = HODO_MAP(struct by_uuid, uuid);
	int err = add_part(r, NULL);

	if (!err)
		err = add_folder(r, &u, ".", 0);
	hodo_map_free(&u);
	if (!err)
		hodo_read_trace_settle(r->traces[0]);
	return err;
}

int hodo_read_open_all(struct hodo_read *r)
{
	struct folders f = { 0 }, parts = { 0 }, snapshots = { 0 }, hosts = { 0 };
	struct hodo_map u = HODO_MAP(struct by_uuid, uuid);
	int why = -ENODATA, err = list_folders(r, ".", &f);

	if (!err)
		err = take_pieces(r, ".", &f, "part-", &parts);
	if (!err)
		err = take_pieces(r, ".", &f, "snapshot-", &snapshots);
	if (!err)
		err = take_pieces(r, ".", &f, HODO_HOST_FOLDER, &hosts);
	if (!err)
		err = add_part(r, NULL);
	if (!err)
		err = open_folders(r, &u, ".", &f, 0, &why);
	if (!err)
		err = open_parts(r, &u, ".", &parts, &why);
	for (uint32_t i = 0; i < hosts.n && !err; i++)
		err = open_host(r, hosts.names[i], &why);
	if (!err && snapshots.n > 0)
		err = open_snapshots(r, &u, &snapshots, &why);
	if (!err && r->ntraces == 0)
		err = why;
	else if (f.links)
		warn(r, ".", "%u symbolic links are not followed", f.links);
	if (!err && r->nparts > 1)
		hodo_order_sort(r->traces, r->ntraces, by_folder);
	for (uint32_t i = 0; i < r->ntraces && !err; i++)
		hodo_read_trace_settle(r->traces[i]);
	hodo_map_free(&u);
	free(f.names);
	free(parts.names);
	free(snapshots.names);
	free(hosts.names);
	return err;
}

uint32_t hodo_read_nparts(const struct hodo_read *reader)
{
	return reader->nparts - 1;
}

const struct hodo_read_part *hodo_read_part(const struct hodo_read *reader, uint32_t i)
{
	return i < reader->nparts - 1 ? &reader->parts[i + 1] : NULL;
}
