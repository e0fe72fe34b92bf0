/* SPDX-License-Identifier: MIT */
/*
 * duplicates.c - recordings that have the same events: a copy, a part, or what was merged beside the merge. Where a
 * uuid of a process is there twice, packets' headers are read for which events each recording has
 * (read/file/identity.h). What stays of two that share events is the one that has all of them. A directory of Parquet
 * may have some tables of a recording alone: that is said, and nothing is left out.
 */
#include "duck_impl.h"

#include <base/file.h>
#include <base/scope.h>
#include <base/vec.h>
#include <errno.h>
#include <read/file/identity.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events of one stream in one recording. */
struct duck_run {
	uint64_t from, to; /* their numbers */
	uint32_t recording, stream;
	uint32_t before; /* the run of this stream that was added before, plus 1; 0: none */
};

struct stream {
	uint8_t key[24]; /* the process's uuid, and what the stream is called: the names that ours have fit */
	uint32_t last;   /* run, plus 1 */
};

struct uuid {
	uint8_t uuid[16];
};

struct adding {
	struct duck_seen *seen;
	uint32_t recording;
	uint64_t *with; /* events that it shares with each recording before */
};

static int add_run(void *adding, const struct hodo_read_numbers *n)
{
	struct adding *a = adding;
	struct duck_seen *seen = a->seen;
	uint8_t key[sizeof(((struct stream *)0)->key)] = { 0 };
	struct stream *stream;
	struct duck_run *run;

	memcpy(key, n->process->uuid, 16);
	memcpy(key + 16, n->stream->name, strnlen(n->stream->name, sizeof(key) - 16));
	stream = hodo_map_add(&seen->streams, key, NULL);
	run = stream ? hodo_vec_add(seen->runs, seen->nruns) : NULL;
	if (!run)
		return -ENOMEM;
	*run = (struct duck_run){ n->from, n->to, a->recording, hodo_map_index(&seen->streams, stream),
				  stream->last };
	for (uint32_t at = stream->last; at; at = seen->runs[at - 1].before) {
		const struct duck_run *other = &seen->runs[at - 1];
		uint64_t from = n->from > other->from ? n->from : other->from;
		uint64_t to = n->to < other->to ? n->to : other->to;

		if (from < to)
			a->with[other->recording] += to - from;
	}
	stream->last = seen->nruns;
	seen->count[a->recording] += n->to - n->from;
	return 0;
}

static int add_events(struct adding *a, struct hodo_read *reader, const char *path, struct hodo_why *e)
{
	struct duck_seen *seen = a->seen;
	int err;

	while (seen->n <= a->recording)
		if (!hodo_vec_add(seen->count, seen->n))
			return hodo_why(e, -ENOMEM, "no memory");
	err = hodo_read_numbers(reader, add_run, a);
	return err == -ENOMEM ? hodo_why(e, err, "no memory") :
	       err ? hodo_why(e, -EIO, "%s: cannot be read", path) : 0;
}

/* Those of a recording that was added before. */
static int add_earlier(struct adding *a, const struct duck_sources *sources, struct hodo_why *e)
{
	const struct hodo_duck_options *o = sources->options;
	const char *path = sources->recordings[a->recording];
	struct hodo_symbols *symbols = NULL;
	struct hodo_read *reader = NULL;
	int err = o->open(o->data, path, &reader, &symbols, e);

	if (!err)
		err = add_events(a, reader, path, e);
	hodo_symbols_free(symbols);
	hodo_read_close(reader);
	return err;
}

/* Takes the events of this recording, and of those after it, away again. */
static void forget(struct duck_seen *seen, uint32_t recording)
{
	while (seen->nruns && seen->runs[seen->nruns - 1].recording >= recording) {
		const struct duck_run *run = &seen->runs[--seen->nruns];
		struct stream *stream = hodo_map_at(&seen->streams, run->stream);

		stream->last = run->before;
	}
	seen->n = seen->n < recording ? seen->n : recording;
}

/* The new recording stays, those before it go, of which it has all events. first: of n. */
static int replace(struct duck_sources *sources, const char *path, const uint64_t *with, uint32_t first, uint32_t n,
		   struct hodo_why *e)
{
	char more[32] = "";

	if (n > 1)
		snprintf(more, sizeof(more), " and %u more", n - 1);
	hodo_why(e, 0, "%s%s %s left out: %s has the same events, and others", sources->recordings[first], more,
		 n > 1 ? "are" : "is", path);
	for (uint32_t i = first; i < sources->nrecordings; i++) {
		if (!with[i])
			continue;
		free(sources->recordings[i]);
		sources->recordings[i] = NULL;
	}
	return DUCK_REPLACES;
}

/* with: events of the new recording that each one before has, too. */
static int decide(const struct duck_seen *seen, struct duck_sources *sources, const char *path, const uint64_t *with,
		  struct hodo_why *e)
{
	const char *other = NULL; /* one that has events of its own, too */
	uint32_t first = 0, n = 0;
	uint64_t shared = 0;

	for (uint32_t i = 0; i < sources->nrecordings; i++) {
		if (!with[i] || !sources->recordings[i])
			continue;
		first = n++ ? first : i;
		shared += with[i];
		if (with[i] < seen->count[i])
			other = sources->recordings[i];
	}
	if (!n)
		return DUCK_NOT_TWICE;
	if (shared >= seen->count[sources->nrecordings]) {
		hodo_why(e, 0, "%s is left out: %s has the same events", path, sources->recordings[first]);
		return DUCK_ADDS_NOTHING;
	}
	if (other)
		return hodo_why(e, -EEXIST, "%s and %s have some of the same events: leave one out", path, other);
	return replace(sources, path, with, first, n, e);
}

static int compare_all(struct duck_seen *seen, struct duck_sources *sources, const char *path, struct hodo_read *reader,
		       struct hodo_why *e)
{
	HODO_AUTO_FREE uint64_t *with = calloc(sources->nrecordings + 1, sizeof(*with));
	struct adding a = { seen, seen->n, with };
	int err = with ? 0 : hodo_why(e, -ENOMEM, "no memory");

	for (; !err && a.recording < sources->nrecordings; a.recording++)
		err = sources->recordings[a.recording] ? add_earlier(&a, sources, e) : 0;
	if (!err) {
		memset(with, 0, (sources->nrecordings + 1) * sizeof(*with));
		err = add_events(&a, reader, path, e);
	}
	if (!err)
		err = decide(seen, sources, path, with, e);
	if (err < 0 || err == DUCK_ADDS_NOTHING)
		forget(seen, sources->nrecordings);
	return err;
}

/* --------------------------------------------------------------- directories of Parquet */

#define STEM_CHARS 16 /* before the number of a file */
#define TWICE_TEXT "its rows are counted twice: leave one out"

/* 1: it was there before. */
static int add_stem(struct duck_seen *seen, const char *stem)
{
	uint32_t before = seen->stems.map.n;

	if (hodo_strings_add(&seen->stems, stem) == HODO_STRINGS_NONE)
		return -ENOMEM;
	return seen->stems.map.n == before;
}

int duck_seen_add(struct duck_seen *seen, struct duck_sources *sources, const char *path, struct hodo_read *reader,
		  struct hodo_why *e)
{
	const struct hodo_read_process *p;
	char stem[HODO_DUCK_STEM];
	bool again = false;
	int err = 0;

	if (!seen->uuids.entry_bytes) {
		seen->uuids = (struct hodo_map)HODO_MAP(struct uuid, uuid);
		seen->streams = (struct hodo_map)HODO_MAP(struct stream, key);
	}
	for (uint32_t i = 0; (p = hodo_read_process(reader, i)); i++) {
		uint32_t before = seen->uuids.n;

		if (!hodo_map_add(&seen->uuids, p->uuid, NULL))
			return hodo_why(e, -ENOMEM, "no memory");
		again |= seen->uuids.n == before;
	}
	if (again)
		err = compare_all(seen, sources, path, reader, e);
	if (err)
		return err;
	hodo_duck_stem(reader, stem);
	err = add_stem(seen, stem);
	if (err > 0 && !again)
		return hodo_why(e, DUCK_IN_FOLDER, "%s is also in a directory of Parquet: " TWICE_TEXT, path);
	return err < 0 ? hodo_why(e, -ENOMEM, "no memory") : DUCK_NOT_TWICE;
}

/* The stems of files of hosts: where these are, a recording is whole. There may be several for one. */
static int find_stems(struct hodo_strings *stems, int dirfd_, const char *name, int depth)
{
	HODO_AUTO_CLOSEDIR DIR *dir = hodo_dir_list(dirfd_, name);
	int err = 0;

	for (const char *entry; dir && !err && (entry = hodo_dir_next(dir));) {
		char stem[HODO_DUCK_STEM];

		if (depth) {
			err = find_stems(stems, dirfd(dir), entry, depth - 1);
		} else if (strlen(entry) > STEM_CHARS && entry[STEM_CHARS] == '-') {
			snprintf(stem, sizeof(stem), "%.*s", STEM_CHARS, entry);
			err = hodo_strings_add(stems, stem) == HODO_STRINGS_NONE ? -ENOMEM : 0;
		}
	}
	return err;
}

int duck_seen_add_folder(struct duck_seen *seen, const char *path, int dirfd, struct hodo_why *e)
{
	HODO_AUTO(hodo_strings_free) struct hodo_strings stems = { 0 };
	int twice = 0, err = find_stems(&stems, dirfd, "hosts", 2);

	for (uint32_t i = 0; i < stems.map.n && err >= 0; i++) {
		err = add_stem(seen, hodo_strings_at(&stems, i));
		twice += err > 0;
	}
	if (err < 0)
		return hodo_why(e, err, "no memory");
	if (twice)
		hodo_why(e, 0, twice == 1 ? "%s has a recording that is also given otherwise: " TWICE_TEXT :
			 "%s has recordings that are also given otherwise, and counted twice: leave them out", path);
	return twice;
}

void duck_seen_free(struct duck_seen *seen)
{
	hodo_strings_free(&seen->stems);
	hodo_map_free(&seen->streams);
	hodo_map_free(&seen->uuids);
	free(seen->runs);
	free(seen->count);
}
