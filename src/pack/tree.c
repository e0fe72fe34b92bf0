/* SPDX-License-Identifier: MIT */
/* tree.c - see tree.h. */
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
#include <base/scope.h>

#include "archive.h"

#define PIECE_BYTES (256u << 10)

struct hodo_tree {
	int fd;
	bool packed;
	struct hodo_archive archive;
};

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
	if (t->fd < 0)
		err = -errno;
	if (err == -ENOTDIR && stat(path, &st) == 0 && S_ISREG(st.st_mode))
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
	if (t->fd >= 0)
		close(t->fd);
	hodo_archive_free(&t->archive);
	free(t);
}

int hodo_tree_dirfd(const struct hodo_tree *t)
{
	return t->packed ? -1 : t->fd;
}

const struct hodo_frames_fault *hodo_tree_fault(const struct hodo_tree *t)
{
	return &t->archive.fault;
}

/* ----------------------------------------------------------------------------- packed */

/* NULL: there is none. */
static const struct hodo_member *find_member(const struct hodo_tree *t, const char *path)
{
	uint32_t i;

	if (strncmp(path, "./", 2) == 0)
		path += 2;
	i = hodo_archive_search(&t->archive, path);
	return i < t->archive.n && strcmp(t->archive.members[i].path, path) == 0 ? &t->archive.members[i] : NULL;
}

static int list_packed(const struct hodo_archive *a, const char *dir,
		       int (*each)(void *arg, const char *name, enum hodo_tree_kind kind), void *arg)
{
	char prefix[PATH_MAX], name[NAME_MAX + 1] = "";
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), strcmp(dir, ".") == 0 ? "" : "%s/", dir);
	uint32_t i = len < sizeof(prefix) ? hodo_archive_search(a, prefix) : a->n;
	int err = 0;

	/* What begins with the same names stands together. */
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

static int file_packed(const struct hodo_tree *t, const char *path, struct hodo_tree_file *file)
{
	const struct hodo_member *m = find_member(t, path);
	struct stat st;

	if (!m)
		return -ENOENT;
	if (fstat(t->fd, &st) < 0)
		return -errno;
	/* Where members are distinguishes them. */
	*file = (struct hodo_tree_file){ fcntl(t->fd, F_DUPFD_CLOEXEC, 0), m->at, m->bytes, true, st.st_dev, st.st_ino,
					 st.st_uid };
	return file->fd < 0 ? -errno : 0;
}

/* -------------------------------------------------------------------------------- both */

bool hodo_tree_has(const struct hodo_tree *t, const char *path)
{
	struct stat st;

	return t->packed ? find_member(t, path) != NULL : fstatat(t->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
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
	const char *name;
	int err = 0;

	if (t->packed)
		return list_packed(&t->archive, dir, each, arg);
	d = hodo_dir_list(t->fd, dir);
	if (!d)
		return -errno;
	while (!err && (name = hodo_dir_next(d)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			err = each(arg, name, kind_of(st.st_mode));
	}
	return err;
}

int hodo_tree_file(const struct hodo_tree *t, const char *path, struct hodo_tree_file *file)
{
	struct stat st;
	int fd;

	if (t->packed)
		return file_packed(t, path, file);
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

/* What was compressed, piece by piece. */
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
