/* SPDX-License-Identifier: MIT */
/*
 * prune.c - first finds all that could be removed, then removes the oldest of it. Every directory on the way is opened
 * without following links, again for the removal.
 */
#include "prune.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/clock.h>
#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <pack/archive.h>
#include <record/record.h>

#include "spool.h"

#define DEPTH_MAX  6u       /* of directories in which recordings are looked for */
#define ITEMS_MAX  4000000u
#define PARTIAL    HODO_PACKED_SUFFIX ".part" /* that a lost connection left, or that is just coming */
#define FRESH_NS   3600000000000ll
#define HOST       "host-" /* the folders of a merge, which are recordings */

enum kind { FILE_ITEM, RECORDING, PIECE, MERGE };

struct item {
	char *path;
	enum kind kind;
	uint64_t bytes;
	int64_t time_ns; /* when it was last written */
};

struct search {
	int topfd;
	struct item *items;
	uint32_t n;
	int64_t now_ns;
	dev_t device;
	struct hodo_prune *p;
};

static int64_t changed_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* ------------------------------------------------------------------------------ finding */

/* Adds up what is below a directory. */
static void measure(int dirfd_, const char *name, struct item *item, unsigned int depth)
{
	HODO_AUTO_CLOSEDIR DIR *d = depth < DEPTH_MAX ? hodo_dir_list(dirfd_, name) : NULL;
	struct stat st;

	for (const char *entry; (entry = hodo_dir_next(d));) {
		if (fstatat(dirfd(d), entry, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			measure(dirfd(d), entry, item, depth + 1);
		if (!S_ISREG(st.st_mode))
			continue;
		item->bytes += (uint64_t)st.st_size;
		if (changed_ns(&st) > item->time_ns)
			item->time_ns = changed_ns(&st);
	}
}

static int add(struct search *s, enum kind kind, const char *path, uint64_t bytes, int64_t time_ns)
{
	struct item item = { strdup(path), kind, bytes, time_ns };

	return !item.path ? -ENOMEM : s->n == ITEMS_MAX ? -E2BIG : hodo_vec_push(s->items, s->n, item);
}

static int add_dir(struct search *s, enum kind kind, int fd, const char *name, const char *path)
{
	struct item item = { .time_ns = 0 };

	measure(fd, name, &item, 0);
	return add(s, kind, path, item.bytes, item.time_ns);
}

/* A recording that its recorder does not write any more. */
static int add_recording(struct search *s, int fd, const char *path)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	char piece[PATH_MAX];
	bool pieces = false;
	int err = 0;

	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return 0;
	for (const char *name; !err && (name = hodo_dir_next(d));) {
		if (!hodo_out_dir_is_piece(name) ||
		    snprintf(piece, sizeof(piece), "%s%s%s", path, *path ? "/" : "", name) >= PATH_MAX)
			continue;
		pieces = true;
		err = add_dir(s, PIECE, fd, name, piece);
	}
	return err || pieces || !*path ? err : add_dir(s, RECORDING, fd, ".", path);
}

/* Whether the metadata of one of a recording's folders says that the recording was merged with others. */
static bool was_merged(int fd, unsigned int depth)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	bool merged = false;

	for (const char *name; !merged && (name = hodo_dir_next(d));) {
		HODO_AUTO_CLOSE int entry = hodo_dir_open(fd, name);
		HODO_AUTO_CLOSE int file = entry < 0 ? -1 : hodo_file_open(entry, "metadata");
		char start[4096];
		ssize_t len = file < 0 ? 0 : pread(file, start, sizeof(start), 0);

		merged = len > 0 && memmem(start, (size_t)len, "\n/*@merge ", 10);
		if (file < 0 && entry >= 0 && depth == 0)
			merged = was_merged(entry, depth + 1);
	}
	return merged;
}

/* What hodo merge made: nothing but recordings that were merged with each other. */
static bool is_merge(int fd)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	uint32_t n = 0;

	for (const char *name; (name = hodo_dir_next(d)); n++) {
		HODO_AUTO_CLOSE int entry = strncmp(name, HOST, strlen(HOST)) ? -1 : hodo_dir_open(fd, name);

		if (entry < 0 || !hodo_out_dir_is_recording(entry) || !was_merged(entry, 0))
			return false;
	}
	return n > 0;
}

static bool ends_with(const char *name, const char *end)
{
	return strlen(name) > strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

static int add_file(struct search *s, int dirfd_, const char *name, const char *path)
{
	HODO_AUTO_CLOSE int fd = -1;
	struct stat st;

	if (!ends_with(name, HODO_PACKED_SUFFIX) && !ends_with(name, PARTIAL))
		return 0;
	fd = hodo_file_open(dirfd_, name);
	if (fd < 0 || fstat(fd, &st) < 0 || !hodo_archive_is(fd))
		return 0;
	if (ends_with(name, PARTIAL) && s->now_ns - changed_ns(&st) < FRESH_NS)
		return 0;
	return add(s, FILE_ITEM, path, (uint64_t)st.st_size, changed_ns(&st));
}

static int find_in(struct search *s, int fd, const char *path, unsigned int depth);

static int add_directory(struct search *s, int fd, const char *path, unsigned int depth)
{
	struct item foreign = { .time_ns = 0 };

	if (hodo_out_dir_is_recording(fd))
		return add_recording(s, fd, path);
	if (is_merge(fd))
		return add_dir(s, MERGE, fd, ".", path);
	if (!hodo_out_dir_has_metadata(fd, true))
		return depth < DEPTH_MAX ? find_in(s, fd, path, depth + 1) : 0;
	measure(fd, ".", &foreign, 0);
	s->p->removed(s->p->arg, path, foreign.bytes, -EEXIST);
	s->p->kept++;
	s->p->kept_bytes += foreign.bytes;
	return 0;
}

static int find_in(struct search *s, int fd, const char *path, unsigned int depth)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	char below[PATH_MAX];
	struct stat st;
	int err = 0;

	if (!d || fstatat(fd, HODO_SPOOL_MARK, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	for (const char *name; !err && (name = hodo_dir_next(d));) {
		HODO_AUTO_CLOSE int entry = -1;

		if (snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", name) >= PATH_MAX ||
		    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			err = add_file(s, fd, name, below);
		if (S_ISDIR(st.st_mode) && st.st_dev == s->device && (entry = hodo_dir_open(fd, name)) >= 0)
			err = add_directory(s, entry, below, depth);
	}
	return err;
}

/* ------------------------------------------------------------------------------ removing */

/* Opens the directory in which a path is. name: its last word. */
static int open_parent(int topfd, const char *path, const char **name)
{
	HODO_AUTO_CLOSE int fd = fcntl(topfd, F_DUPFD_CLOEXEC, 0);
	char word[NAME_MAX + 1];

	for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		int next;

		snprintf(word, sizeof(word), "%.*s", (int)(slash - path), path);
		next = hodo_dir_open(fd, word);
		close(fd);
		fd = next;
	}
	*name = path;
	return hodo_take_fd(&fd);
}

static int remove_recording(int parent, const char *name)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(parent, name);

	if (fd < 0)
		return fd;
	return flock(fd, LOCK_SH | LOCK_NB) < 0 ? -EBUSY : hodo_out_dir_remove_in(parent, fd, name);
}

static int remove_merge(int parent, const char *name)
{
	HODO_AUTO_CLOSE int fd = hodo_dir_open(parent, name);
	HODO_AUTO_CLOSEDIR DIR *d = fd < 0 || !is_merge(fd) ? NULL : hodo_dir_list(fd, ".");
	int err = d ? 0 : -EEXIST;

	for (const char *host; !err && (host = hodo_dir_next(d));)
		err = remove_recording(fd, host);
	if (!err && unlinkat(parent, name, AT_REMOVEDIR) < 0)
		err = -errno;
	return err;
}

/* The directories that are empty now, but for the topmost. */
static void remove_parents(int topfd, const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	while ((slash = strrchr(dir, '/')) != NULL) {
		const char *name;
		HODO_AUTO_CLOSE int parent = -1;

		*slash = 0;
		parent = open_parent(topfd, dir, &name);
		if (parent < 0 || unlinkat(parent, name, AT_REMOVEDIR) < 0)
			return;
	}
}

static int remove_item(int topfd, const struct item *item)
{
	const char *name;
	HODO_AUTO_CLOSE int parent = open_parent(topfd, item->path, &name);
	int err;

	if (parent < 0)
		return parent;
	if (item->kind == FILE_ITEM)
		err = unlinkat(parent, name, 0) < 0 ? -errno : 0;
	else if (item->kind == PIECE)
		err = flock(parent, LOCK_SH | LOCK_NB) < 0 ? -EBUSY : hodo_out_dir_remove_at(parent, name);
	else
		err = item->kind == MERGE ? remove_merge(parent, name) : remove_recording(parent, name);
	if (!err)
		remove_parents(topfd, item->path);
	return err;
}

static int by_age(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return hodo_order(x->time_ns, y->time_ns) ?: strverscmp(x->path, y->path);
}

static void remove_oldest(const struct search *s, struct hodo_prune *p)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < s->n; i++)
		left += s->items[i].bytes;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct item *item = &s->items[i];
		bool go = left > p->keep_bytes || s->now_ns - item->time_ns > p->keep_ns;
		int err = go && !p->dry_run ? remove_item(s->topfd, item) : 0;

		if (go)
			p->removed(p->arg, item->path, item->bytes, err);
		if (go && !err) {
			left -= item->bytes;
			p->gone++;
			p->gone_bytes += item->bytes;
			continue;
		}
		p->failed += err != 0;
		p->kept++;
		p->kept_bytes += item->bytes;
	}
}

int hodo_prune(const char *dir, struct hodo_prune *p)
{
	HODO_AUTO_CLOSE int topfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct search s = { .topfd = topfd, .now_ns = hodo_clock_ns(CLOCK_REALTIME), .p = p };
	struct stat st;
	int err = topfd < 0 || fstat(topfd, &st) < 0 ? -errno : 0;

	if (!err) {
		s.device = st.st_dev;
		p->is_recording = is_merge(topfd);
	}
	if (!err && !p->is_recording && hodo_out_dir_is_recording(topfd)) {
		err = add_recording(&s, topfd, "");
		p->is_recording = !s.n;
	} else if (!err && !p->is_recording) {
		err = find_in(&s, topfd, "", 0);
	}
	if (!err && s.n) {
		hodo_order_sort(s.items, s.n, by_age);
		remove_oldest(&s, p);
	}
	for (uint32_t i = 0; i < s.n; i++)
		free(s.items[i].path);
	free(s.items);
	return err;
}
