/* SPDX-License-Identifier: MIT */
/* open.c - opens a recording: its warnings, and why it cannot be opened. */
#include "open.h"
#include "folder.h"
#include "hosts.h"
#include "parts.h"
#include "reader.h"
#include "stream.h"

#include <base/file.h>
#include <base/vec.h>
#include <read/event/select.h>
#include <read/event/spans.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is looked at for a recording below a directory that is none. */
#define LEVELS     2   /* HOST/RECORDING */
#define LOOKED_MAX 100 /* entries */
#define TRIED_MAX  20  /* of these, which are opened */

/* Whether the file is CTF metadata, but not ours. */
static bool is_foreign(int parent, const char *name)
{
	static const uint8_t packed[2][4] = { { 0x57, 0x1d, 0xd1, 0x75 }, { 0x75, 0xd1, 0x1d, 0x57 } };
	int fd = hodo_file_open(parent, name);
	char text[65536];
	ssize_t n;

	if (fd < 0)
		return false;
	n = hodo_file_read_at(fd, text, sizeof(text), 0);
	close(fd);
	if (n < 4)
		return false;
	if (memcmp(text, packed[0], 4) == 0 || memcmp(text, packed[1], 4) == 0)
		return true;
	return memmem(text, (size_t)n, "CTF 1.", 6) && !memmem(text, (size_t)n, "/*@hodo ", 8);
}

/* Whether there is another tool's metadata further down, as LTTng has it. */
static bool has_foreign(int parent, const char *path, unsigned depth, unsigned *budget)
{
	DIR *dir = hodo_dir_list(parent, path);
	const char *name;
	bool found = false;

	while (!found && *budget > 0 && (name = hodo_dir_next(dir)) != NULL) {
		if (name[0] == '.')
			continue;
		--*budget;
		found = strcmp(name, "metadata") == 0 ? is_foreign(dirfd(dir), name) :
			depth > 0 && has_foreign(dirfd(dir), name, depth - 1, budget);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Warns about damaged packed files. */
static void warn_packed(struct hodo_read *r)
{
	const struct hodo_frames_fault *fault;
	const char *part;

	for (uint32_t i = 0; (fault = hodo_tree_fault(r->tree, i, &part)) != NULL; i++)
		if (fault->why)
			hodo_read_warn(r, NULL, 0, part, "", "a file at byte %llu %s: %llu bytes are not read",
				       (unsigned long long)fault->at, fault->why, (unsigned long long)fault->bytes);
}

static int open_folders(struct hodo_read *r)
{
	unsigned budget = 1000;
	int err;

	if (hodo_tree_has(r->tree, "metadata")) {
		r->single = true;
		return hodo_read_open_single(r);
	}
	err = hodo_read_open_all(r);
	if (err == -ENODATA && hodo_tree_dirfd(r->tree) >= 0 && has_foreign(hodo_tree_dirfd(r->tree), ".", 5, &budget))
		err = -EPROTO;
	return err;
}

/* ------------------------------------------------------------------------ no recording */

struct search {
	unsigned looked, tried;
};

static bool is_recording(const char *path, struct search *s)
{
	struct hodo_read *r;

	if (s->tried++ >= TRIED_MAX || hodo_read_open(&r, path, NULL) < 0)
		return false;
	hodo_read_close(r);
	return true;
}

/* Whether there is a recording at most so many levels below the path, which becomes that of the recording. */
static bool find_below(char path[PATH_MAX], unsigned levels, struct search *s)
{
	DIR *dir = hodo_dir_list(AT_FDCWD, path);
	size_t len = strlen(path);
	bool found = false;
	const char *name;

	while (dir && !found && s->looked++ < LOOKED_MAX && (name = hodo_dir_next(dir)) != NULL) {
		const char *suffix = strrchr(name, '.');
		struct stat st;

		if (name[0] == '.' || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    snprintf(path + len, PATH_MAX - len, "/%s", name) >= (int)(PATH_MAX - len))
			continue;
		if (S_ISDIR(st.st_mode))
			found = is_recording(path, s) || (levels > 1 && find_below(path, levels - 1, s));
		else
			found = S_ISREG(st.st_mode) && suffix && strcmp(suffix, HODO_PACKED_SUFFIX) == 0 &&
				is_recording(path, s);
	}
	if (!found)
		path[len] = 0;
	if (dir)
		closedir(dir);
	return found;
}

static bool has(const struct hodo_read *r, const char *name)
{
	return faccessat(hodo_tree_dirfd(r->tree), name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What a directory is in which there is no recording, and what to do with it; false: nothing is known. */
static bool hint(const struct hodo_read *r, char *text, size_t bytes)
{
	char path[PATH_MAX];
	struct search s = { 0 };

	if (!r->path || hodo_tree_dirfd(r->tree) < 0)
		return false;
	/* As src/send/spool.h and src/duck/duck.h have them. */
	if (has(r, ".hodo-unsent"))
		snprintf(text, bytes, "%.300s: has what was not sent yet: send it with 'hodo send', and read it where it arrives",
			 r->path);
	else if (has(r, "_hodo.json"))
		snprintf(text, bytes, "%.300s: has tables as Parquet, no recording: ask it with 'hodo query'", r->path);
	else if (snprintf(path, sizeof(path), "%s", r->path) < (int)sizeof(path) && find_below(path, LEVELS, &s))
		snprintf(text, bytes, "%.200s: no recording in this directory, but below it: give one, such as %.500s; "
			 "'hodo query' reads several, and 'hodo merge' makes one of them", r->path, path);
	else
		return false;
	return true;
}

/* r: NULL if there is none. */
static int explain(const struct hodo_read *r, const struct hodo_read_options *o, const char *path, int err)
{
	static const struct {
		int err;
		const char *what, *remedy;
	} reasons[] = {
		{ -ENOENT, "no such recording", "make one with 'hodo record', or name its directory" },
		{ -ENOTDIR, "not a directory", "give the recording's directory" },
		{ -ENODATA, "no recording in this directory", "give one that 'hodo record' wrote" },
		{ -EPROTO, "a CTF trace of another tool", "read it with babeltrace2" },
		{ -EPROTONOSUPPORT, "written by another version or on a machine of the other byte order",
		  "read it with babeltrace2" },
		{ -EBADMSG, "the metadata is damaged", "try babeltrace2, or a copy of it" },
		{ -EACCES, NULL, "read it as its owner or as root, or give it away with chown -R" },
		{ -EPERM, NULL, "read it as its owner or as root, or give it away with chown -R" },
		{ -ENOMEM, NULL, "end other programs" },
		{ 0, NULL, "check the path, and the disk" },
	};
	char text[WARNING_BYTES];
	size_t i = 0;

	if (!o || !o->error || o->error_bytes == 0)
		return err;
	while (reasons[i].err && reasons[i].err != err)
		i++;
	if (err == -ENOTUNIQ && r)
		snprintf(text, sizeof(text), "%s", r->several);
	else if (err != -ENODATA || !r || !hint(r, text, sizeof(text)))
		snprintf(text, sizeof(text), "%.300s: %s: %s", *path ? path : "''",
			 reasons[i].what ? reasons[i].what : strerror(-err), reasons[i].remedy);
	hodo_read_clean(o->error, o->error_bytes, text);
	return err;
}

static int prepare_streams(struct hodo_read *r)
{
	uint32_t order = 0;

	for (uint32_t i = 0; i < r->ntraces; i++)
		r->nstreams += r->traces[i]->nstreams;
	r->heap_room = r->nstreams ? r->nstreams : 1;
	r->heap = calloc(r->heap_room, sizeof(*r->heap));
	if (!r->heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->ntraces; i++)
		for (uint32_t k = 0; k < r->traces[i]->nstreams; k++)
			r->traces[i]->streams[k]->order = order++;
	return 0;
}

/* The reader, with its tree. r is NULL only if there is no memory. */
static int open_tree(struct hodo_read **result, const char *path, const struct hodo_read_options *o)
{
	struct hodo_read *r = calloc(1, sizeof(*r));
	int err;

	*result = r;
	if (!r)
		return -ENOMEM;
	r->since_ns = INT64_MIN;
	r->until_ns = r->upto_ns = INT64_MAX;
	r->event.size = sizeof(r->event);
	r->event.values = r->values;
	r->warn = o ? o->warn : NULL;
	r->warn_data = o ? o->data : NULL;
	err = hodo_tree_open(&r->tree, path);
	r->path = hodo_arena_copy(&r->memory, path, strlen(path));
	if (!r->path)
		err = -ENOMEM;
	for (size_t n = err ? 0 : strlen(path); n > 1 && r->path[n - 1] == '/'; n--)
		r->path[n - 1] = 0;
	return err;
}

int hodo_read_open(struct hodo_read **reader, const char *path, const struct hodo_read_options *options)
{
	const struct hodo_read_options *o = options;
	struct hodo_read *r;
	int err;

	if (!reader || !path || (o && o->size < sizeof(*o)))
		return -EINVAL;
	*reader = NULL;
	err = open_tree(&r, path, o);
	if (!err)
		warn_packed(r);
	if (!err)
		err = open_folders(r);
	if (!err)
		err = hodo_hosts_settle(r);
	if (!err)
		err = prepare_streams(r);
	if (err) {
		explain(r, o, path, err);
		hodo_read_close(r);
		return err;
	}
	*reader = r;
	return 0;
}

int hodo_read_open_empty(struct hodo_read **reader, const char *path, const struct hodo_read_options *options)
{
	struct hodo_read *r;
	int err = open_tree(&r, path, options);

	*reader = NULL;
	if (!err && hodo_tree_dirfd(r->tree) < 0)
		err = -ENOTDIR;
	if (!err && !hodo_vec_add(r->parts, r->nparts))
		err = -ENOMEM;
	if (err) {
		explain(r, options, path, err);
		hodo_read_close(r);
		return err;
	}
	r->parts[0].size = sizeof(*r->parts);
	*reader = r;
	return 0;
}

void hodo_read_close(struct hodo_read *reader)
{
	if (!reader)
		return;
	for (uint32_t i = 0; i < reader->ntraces; i++)
		hodo_read_trace_free(reader->traces[i]);
	hodo_tree_close(reader->tree);
	hodo_frames_pool_free(&reader->frames);
	hodo_spans_free(reader->spans);
	hodo_select_free(reader->select);
	if (reader->follow)
		reader->follow_free(reader->follow);
	free(reader->parts);
	free(reader->traces);
	free(reader->heap);
	free(reader->unrecorded);
	free(reader->hosts);
	hodo_arena_free(&reader->memory);
	free(reader);
}

uint32_t hodo_read_nprocesses(const struct hodo_read *reader)
{
	return reader->ntraces;
}

const struct hodo_read_process *hodo_read_process(const struct hodo_read *reader, uint32_t i)
{
	return i < reader->ntraces ? &reader->traces[i]->pub : NULL;
}
