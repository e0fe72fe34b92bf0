/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>

#include <core/search.h>

#include "archive.h"

#define PIECE_BYTES (256u << 10)
#define PART        "part-"
#define PARTS_MAX   131072u

/* A part of a recording, packed by itself: it is read as the directory that it was. */
struct part {
	char name[NAME_MAX + 1]; /* of the file, without its suffix */
	struct hodo_archive archive;
};

struct hodo_tree {
	int fd;
	bool packed;
	struct hodo_archive archive;
	struct part *parts; /* of a directory, by name */
	uint32_t n;
};

/* ------------------------------------------------------------------------------- opening */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->name, ((const struct part *)b)->name);
}

/* part-NNNN.hodo, where there is no directory part-NNNN. */
static bool is_part(const struct hodo_tree *t, const char *name, char part[NAME_MAX + 1])
{
	size_t start = sizeof(PART) - 1, digits = strncmp(name, PART, start) ? 0 : strspn(name + start, "0123456789");
	struct stat st;

	if (digits < 4 || digits > 10 || strcmp(name + start + digits, HODO_PACKED_SUFFIX) != 0)
		return false;
	snprintf(part, NAME_MAX + 1, "%.*s", (int)(start + digits), name);
	return fstatat(t->fd, part, &st, AT_SYMLINK_NOFOLLOW) < 0;
}

/* Files that are no archives are no parts, as whatever else is in a directory. */
static int find_parts(struct hodo_tree *t)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(t->fd, ".");
	int err = 0;

	for (const char *name; !err && (name = hodo_dir_next(d)) != NULL;) {
		struct part part = { .name = "" };
		HODO_AUTO_CLOSE int fd = is_part(t, name, part.name) ? hodo_file_open(t->fd, name) : -1;

		if (fd < 0)
			continue;
		err = t->n == PARTS_MAX ? -E2BIG : hodo_archive_find(&part.archive, fd);
		if (!err)
			err = hodo_vec_push(t->parts, t->n, part);
		if (err)
			hodo_archive_free(&part.archive);
		if (err == -ENOTDIR)
			err = 0;
	}
	hodo_order_sort(t->parts, t->n, by_name);
	return err;
}

static int open_packed(struct hodo_tree *t, const char *path)
{
	t->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	t->packed = true;
	return t->fd < 0 ? -errno : hodo_archive_find(&t->archive, t->fd);
}

int hodo_tree_open(struct hodo_tree **tree, const char *path)
{
	struct hodo_tree *t = calloc(1, sizeof(*t));
	struct stat st;
	int err = 0;

	*tree = t;
	if (!t)
		return -ENOMEM;
	t->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = t->fd < 0 ? -errno : find_parts(t);
	if (t->fd < 0 && err == -ENOTDIR && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		err = open_packed(t, path);
	if (err) {
		hodo_tree_close(t);
		*tree = NULL;
	}
	return err;
}

void hodo_tree_close(struct hodo_tree *t)
{
	if (!t)
		return;
	hodo_close(t->fd);
	hodo_archive_free(&t->archive);
	for (uint32_t i = 0; i < t->n; i++)
		hodo_archive_free(&t->parts[i].archive);
	free(t->parts);
	free(t);
}

int hodo_tree_dirfd(const struct hodo_tree *t)
{
	return t->packed ? -1 : t->fd;
}

const char *hodo_tree_part(const struct hodo_tree *t, uint32_t i)
{
	return i < t->n ? t->parts[i].name : NULL;
}

const struct hodo_frames_fault *hodo_tree_fault(const struct hodo_tree *t, uint32_t i, const char **part)
{
	*part = ".";
	if (t->packed)
		return i == 0 ? &t->archive.fault : NULL;
	if (i >= t->n)
		return NULL;
	*part = t->parts[i].name;
	return &t->parts[i].archive.fault;
}

/* ----------------------------------------------------------------------------- packed */

static const struct part *find_part(const struct hodo_tree *t, const char *name)
{
	uint32_t i = hodo_search(at, t->n, strcmp(t->parts[at].name, name) >= 0);

	return i < t->n && strcmp(t->parts[i].name, name) == 0 ? &t->parts[i] : NULL;
}

/* The archive in which a path is, with the rest of the path; NULL: it is in a directory. */
static const struct hodo_archive *archive_of(const struct hodo_tree *t, const char **path, const struct part **part)
{
	const char *p = strncmp(*path, "./", 2) == 0 ? *path + 2 : *path;
	size_t len = strcspn(p, "/");
	char name[NAME_MAX + 1];

	*part = NULL;
	if (t->packed) {
		*path = p;
		return &t->archive;
	}
	if (t->n == 0 || len > NAME_MAX)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)len, p);
	*part = find_part(t, name);
	*path = *part ? p[len] ? p + len + 1 : "." : *path;
	return *part ? &(*part)->archive : NULL;
}

bool hodo_tree_packs(const struct hodo_tree *t, const char *path)
{
	const struct part *part;

	return archive_of(t, &path, &part) != NULL;
}

/* NULL: there is none. */
static const struct hodo_archive_entry *find_member(const struct hodo_archive *a, const char *path)
{
	uint32_t i = hodo_archive_search(a, path);

	return i < a->n && strcmp(a->members[i].path, path) == 0 ? &a->members[i] : NULL;
}

static int list_packed(const struct hodo_archive *a, const char *dir,
		       int (*each)(void *arg, const char *name, enum hodo_tree_kind kind), void *arg)
{
	char prefix[PATH_MAX], name[NAME_MAX + 1] = "";
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), strcmp(dir, ".") == 0 ? "" : "%s/", dir);
	uint32_t i = len < sizeof(prefix) ? hodo_archive_search(a, prefix) : a->n;
	int err = 0;

	/* Paths with the same prefix are adjacent. */
	for (; !err && i < a->n && strncmp(a->members[i].path, prefix, len) == 0; i++) {
		const char *rest = a->members[i].path + len;
		size_t n = strcspn(rest, "/");

		if (rest[n] && strlen(name) == n && memcmp(name, rest, n) == 0)
			continue;
		memcpy(name, rest, n);
		name[n] = 0;
		err = each(arg, name, rest[n] ? HODO_TREE_DIR : HODO_TREE_FILE);
	}
	return err;
}

static int file_packed(const struct hodo_tree *t, const struct hodo_archive *a, const struct part *part,
		       const char *path, struct hodo_tree_file *file)
{
	const struct hodo_archive_entry *m = find_member(a, path);
	char name[NAME_MAX + sizeof(HODO_PACKED_SUFFIX)];
	HODO_AUTO_CLOSE int fd = -1;
	struct stat st;

	if (!m)
		return -ENOENT;
	snprintf(name, sizeof(name), "%s" HODO_PACKED_SUFFIX, part ? part->name : "");
	fd = part ? hodo_file_open(t->fd, name) : fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return part ? fd : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* Their offsets distinguish members. */
	*file = (struct hodo_tree_file){ hodo_take_fd(&fd), m->at, m->bytes, true, st.st_dev, st.st_ino, st.st_uid };
	return 0;
}

/* -------------------------------------------------------------------------------- both */

bool hodo_tree_has(const struct hodo_tree *t, const char *path)
{
	const struct part *part;
	const struct hodo_archive *a = archive_of(t, &path, &part);
	struct stat st;

	if (!a)
		return fstatat(t->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
	return (part && strcmp(path, ".") == 0) || find_member(a, path);
}

static enum hodo_tree_kind kind_of(mode_t mode)
{
	if (S_ISREG(mode))
		return HODO_TREE_FILE;
	return S_ISDIR(mode) ? HODO_TREE_DIR : S_ISLNK(mode) ? HODO_TREE_LINK : HODO_TREE_OTHER;
}

int hodo_tree_list(const struct hodo_tree *t, const char *dir,
		   int (*each)(void *arg, const char *name, enum hodo_tree_kind kind), void *arg)
{
	HODO_AUTO_CLOSEDIR DIR *d = NULL;
	const struct part *part;
	const struct hodo_archive *a = archive_of(t, &dir, &part);
	const char *name;
	int err = 0;

	if (a)
		return list_packed(a, dir, each, arg);
	d = hodo_dir_list(t->fd, dir);
	if (!d)
		return -errno;
	for (uint32_t i = 0; !err && strcmp(dir, ".") == 0 && i < t->n; i++)
		err = each(arg, t->parts[i].name, HODO_TREE_DIR);
	while (!err && (name = hodo_dir_next(d)) != NULL) {
		char file[NAME_MAX + 1];
		struct stat st;

		/* A packed part has been listed as a directory. */
		if (t->n && strcmp(dir, ".") == 0 && is_part(t, name, file) && find_part(t, file))
			continue;
		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			err = each(arg, name, kind_of(st.st_mode));
	}
	return err;
}

int hodo_tree_file(const struct hodo_tree *t, const char *path, struct hodo_tree_file *file)
{
	const struct part *part;
	const struct hodo_archive *a = archive_of(t, &path, &part);
	struct stat st;
	int fd;

	if (a)
		return file_packed(t, a, part, path, file);
	fd = hodo_file_open(t->fd, path);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	*file = (struct hodo_tree_file){ fd, 0, (uint64_t)st.st_size, hodo_frames_name(path) > 0, st.st_dev, st.st_ino,
					 st.st_uid };
	return 0;
}

/* Reads the original of a compressed file, piece by piece. */
static int read_frames(const struct hodo_tree_file *file, size_t max, struct hodo_text *text)
{
	struct hodo_frames_pool pool = { 0 };
	struct hodo_frames *f;
	int err = hodo_frames_open(&f, &pool, file->fd, file->at, file->bytes);
	uint64_t size = err ? 0 : hodo_frames_size(f);

	if (size > max)
		err = -EFBIG;
	for (uint64_t at = 0; !err && at < size;) {
		size_t want = size - at < PIECE_BYTES ? (size_t)(size - at) : PIECE_BYTES;
		char *to = hodo_text_room(text, want);
		ssize_t n = to ? hodo_frames_read(f, file->fd, to, want, at) : -ENOMEM;

		err = n < 0 ? (int)n : 0;
		text->len += n > 0 ? (size_t)n : 0;
		at += n > 0 ? (size_t)n : 0;
	}
	if (!err && hodo_frames_fault(f)->why)
		err = -EBADMSG;
	hodo_frames_free(f);
	hodo_frames_pool_free(&pool);
	return err;
}

int hodo_tree_read(const struct hodo_tree *t, const char *path, size_t max, struct hodo_text *text, uid_t *owner)
{
	struct hodo_tree_file file;
	int err = hodo_tree_file(t, path, &file);

	if (err)
		return err;
	err = file.compressed ? read_frames(&file, max, text) : hodo_file_read(file.fd, max, text);
	*owner = file.owner;
	close(file.fd);
	return err;
}
