/* SPDX-License-Identifier: MIT */
/*
 * duplicates.c - recordings that have the same processes: a copy, or what was merged beside the merge. Parts of a
 * recording and snapshots have the same processes too, at other times, and are not meant: only where a uuid is there
 * twice are packets' headers read, and times compared. A directory of Parquet may have a part of a
 * recording alone: that is said, and nothing is left out.
 */
#include "duck_impl.h"

#include <base/file.h>
#include <base/scope.h>
#include <base/vec.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct duck_last {
	uint8_t uuid[16];
	uint32_t process; /* plus 1 */
};

static int note_times(struct duck_process *to, const struct hodo_read_process *p)
{
	for (uint32_t i = 0; i < p->nstreams; i++) {
		const struct hodo_read_stream *s = p->streams[i];
		struct duck_times *times;

		if (!s->packets)
			continue;
		times = hodo_vec_add(to->times, to->ntimes);
		if (!times)
			return -ENOMEM;
		to->events += s->events;
		*times = (struct duck_times){ s->cpu, s->begin_ns, s->end_ns };
	}
	to->known = true;
	return 0;
}

/* Of the processes of a recording that was added before. */
static int find_times(struct duck_processes *all, struct duck_sources *sources, uint32_t recording,
		      struct duck_error *e)
{
	const struct hodo_duck_options *o = sources->options;
	const struct hodo_read_process *p;
	struct hodo_read *reader = NULL;
	struct hodo_symbols *symbols = NULL;
	int err = o->open(o->data, sources->recordings[recording], &reader, &symbols, e->text, e->bytes);

	if (!err && hodo_read_scan(reader) < 0)
		err = duck_fail(e, -EIO, "%s: cannot be read", sources->recordings[recording]);
	for (uint32_t i = 0; !err && (p = hodo_read_process(reader, i)); i++)
		for (uint32_t k = 0; k < all->n && !err; k++)
			if (all->all[k].recording == recording && !all->all[k].known &&
			    memcmp(all->all[k].uuid, p->uuid, 16) == 0)
				err = note_times(&all->all[k], p);
	hodo_symbols_free(symbols);
	hodo_read_close(reader);
	return err;
}

enum relation { UNKNOWN, APART, TOGETHER };

/* By the streams of one CPU each: of a recording in parts, one CPU's packets may end in a part when another one's have
 * begun in the next. Without packets there is no time that would tell them apart. */
static enum relation compare(const struct duck_process *a, const struct duck_process *b)
{
	if (!a->ntimes || !b->ntimes)
		return UNKNOWN;
	for (uint32_t i = 0; i < a->ntimes; i++) {
		const struct duck_times *x = &a->times[i];

		for (uint32_t k = 0; k < b->ntimes; k++) {
			const struct duck_times *y = &b->times[k];

			if (x->cpu == y->cpu && ((x->begin_ns < y->end_ns && y->begin_ns < x->end_ns) ||
						 (x->begin_ns == y->begin_ns && x->end_ns == y->end_ns)))
				return TOGETHER;
		}
	}
	return APART;
}

/* What a new recording has in common with those before. */
struct shared {
	struct with {
		bool apart, together; /* some process is */
		uint32_t n;           /* processes that both have */
	} *with;                      /* by recording */
	uint32_t covered, n; /* of the new one's processes, how many others have; all */
	uint32_t first;      /* recording that has one */
};

/* A new process and those with its uuid in recordings before: how they relate, or, once that is known of all, which of
 * them are the same. */
static int look(struct duck_processes *all, struct duck_sources *sources, struct duck_process *p,
		       struct shared *shared, bool count, struct duck_error *e)
{
	bool found = false;

	for (uint32_t at = p->before; at; at = all->all[at - 1].before) {
		struct duck_process *other = &all->all[at - 1];
		struct with *with = &shared->with[other->recording];
		enum relation relation;
		int err = 0;

		if (other->recording == p->recording || !sources->recordings[other->recording])
			continue;
		if (!other->known)
			err = find_times(all, sources, other->recording, e);
		if (err)
			return err;
		other->known = true; /* one that is gone since has none */
		relation = compare(p, other);
		if (!count) {
			with->apart |= relation == APART;
			with->together |= relation == TOGETHER;
		} else if (relation == TOGETHER || (relation == UNKNOWN && (with->together || !with->apart))) {
			shared->first = shared->covered || found ? shared->first : other->recording;
			with->n++;
			found = true;
		}
	}
	shared->covered += found;
	shared->n += count;
	return 0;
}

static int add_process(struct duck_processes *all, uint32_t recording, const struct hodo_read_process *p)
{
	struct duck_last *last = hodo_map_add(&all->last, p->uuid, NULL);
	struct duck_process *added = last ? hodo_vec_add(all->all, all->n) : NULL;

	if (!added)
		return -ENOMEM;
	*added = (struct duck_process){ 0 };
	memcpy(added->uuid, p->uuid, sizeof(added->uuid));
	added->recording = recording;
	added->before = last->process;
	last->process = all->n;
	return added->before != 0;
}

/* Of a recording: its processes, and the events of all of them. */
static uint32_t count_of(const struct duck_processes *all, uint32_t recording, uint64_t *events)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		if (all->all[i].recording != recording)
			continue;
		*events += all->all[i].events;
		n++;
	}
	return n;
}

/* The new one stays, those before that share something with it go. */
static int replace(struct duck_sources *sources, const char *path, const struct shared *shared, struct duck_error *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sources->nrecordings; i++)
		n += shared->with[i].n != 0;
	if (n > 1)
		duck_fail(e, 0, "%s and %u more are left out: %s has the same events, and others",
			  sources->recordings[shared->first], n - 1, path);
	else
		duck_fail(e, 0, "%s is left out: %s has the same events, and others",
			  sources->recordings[shared->first], path);
	for (uint32_t i = 0; i < sources->nrecordings; i++) {
		if (!shared->with[i].n)
			continue;
		free(sources->recordings[i]);
		sources->recordings[i] = NULL;
	}
	return DUCK_REPLACES;
}

/* Those that have nothing of their own go. */
static int decide(struct duck_processes *all, struct duck_sources *sources, const char *path,
		  const struct shared *shared, struct duck_error *e)
{
	uint64_t before = 0, events = 0;
	uint32_t other = UINT32_MAX; /* one that has a process more */

	if (!shared->covered)
		return DUCK_NOT_TWICE;
	count_of(all, sources->nrecordings, &events);
	for (uint32_t i = 0; i < sources->nrecordings; i++)
		if (shared->with[i].n && shared->with[i].n < count_of(all, i, &before))
			other = i;
	if (shared->covered == shared->n && (other != UINT32_MAX || events <= before)) {
		duck_fail(e, 0, "%s is left out: %s has the same events", path, sources->recordings[shared->first]);
		return DUCK_ADDS_NOTHING;
	}
	if (other != UINT32_MAX)
		return duck_fail(e, -EEXIST, "%s and %s have parts of the same recording: leave one out", path,
				 sources->recordings[other]);
	return replace(sources, path, shared, e);
}

/* Takes the newest processes away again. */
static void forget(struct duck_processes *all, uint32_t n)
{
	while (all->n > n) {
		struct duck_process *p = &all->all[--all->n];
		struct duck_last *last = hodo_map_find(&all->last, p->uuid);

		if (last)
			last->process = p->before;
		free(p->times);
	}
}

#define STEM_CHARS 16 /* before the number of a file */
#define TWICE_TEXT "its rows are counted twice: leave one out"

/* 1: it was there before. */
static int add_stem(struct duck_processes *all, const char *stem)
{
	uint32_t before = all->stems.map.n;

	if (hodo_strings_add(&all->stems, stem) == HODO_STRINGS_NONE)
		return -ENOMEM;
	return all->stems.map.n == before;
}

static int compare_all(struct duck_processes *all, struct duck_sources *sources, const char *path, uint32_t before,
		   struct hodo_read *reader, struct duck_error *e)
{
	struct shared shared = { .with = calloc(sources->nrecordings + 1, sizeof(*shared.with)) };
	const struct hodo_read_process *p;
	int err = 0;

	if (!shared.with)
		return duck_fail(e, -ENOMEM, "no memory");
	if (hodo_read_scan(reader) < 0)
		err = duck_fail(e, -EIO, "%s: cannot be read", path);
	for (uint32_t i = 0; !err && (p = hodo_read_process(reader, i)); i++)
		err = note_times(&all->all[before + i], p);
	for (uint32_t i = before; !err && i < all->n; i++)
		err = look(all, sources, &all->all[i], &shared, false, e);
	for (uint32_t i = before; !err && i < all->n; i++)
		err = look(all, sources, &all->all[i], &shared, true, e);
	if (!err)
		err = decide(all, sources, path, &shared, e);
	free(shared.with);
	return err;
}

int duck_processes_add(struct duck_processes *all, struct duck_sources *sources, const char *path,
		       struct hodo_read *reader, struct duck_error *e)
{
	const struct hodo_read_process *p;
	char stem[HODO_DUCK_STEM];
	uint32_t before = all->n;
	bool again = false;
	int err = 0;

	if (!all->last.entry_bytes)
		all->last = (struct hodo_map)HODO_MAP(struct duck_last, uuid);
	for (uint32_t i = 0; err >= 0 && (p = hodo_read_process(reader, i)); i++) {
		err = add_process(all, sources->nrecordings, p);
		again |= err > 0;
	}
	if (err < 0)
		return duck_fail(e, -ENOMEM, "no memory");
	if (again)
		err = compare_all(all, sources, path, before, reader, e);
	if (err < 0 || (again && err == DUCK_ADDS_NOTHING)) {
		forget(all, before);
		return err;
	}
	if (again && err == DUCK_REPLACES)
		return err;
	hodo_duck_stem(reader, stem);
	err = add_stem(all, stem);
	if (err > 0 && !again)
		return duck_fail(e, DUCK_IN_FOLDER, "%s is also in a directory of Parquet: " TWICE_TEXT, path);
	return err < 0 ? duck_fail(e, -ENOMEM, "no memory") : DUCK_NOT_TWICE;
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

int duck_processes_add_folder(struct duck_processes *all, const char *path, int dirfd, struct duck_error *e)
{
	HODO_AUTO(hodo_strings_free) struct hodo_strings stems = { 0 };
	int twice = 0, err = find_stems(&stems, dirfd, "hosts", 2);

	for (uint32_t i = 0; i < stems.map.n && err >= 0; i++) {
		err = add_stem(all, hodo_strings_at(&stems, i));
		twice += err > 0;
	}
	if (err < 0)
		return duck_fail(e, err, "no memory");
	if (twice)
		duck_fail(e, 0, twice == 1 ? "%s has a recording that is also given otherwise: " TWICE_TEXT :
			  "%s has recordings that are also given otherwise, and counted twice: leave them out", path);
	return twice;
}

void duck_processes_free(struct duck_processes *all)
{
	forget(all, 0);
	hodo_strings_free(&all->stems);
	free(all->all);
	hodo_map_free(&all->last);
}
