/* SPDX-License-Identifier: MIT */
/*
 * write.c - the folder of a recording in the output: new metadata, and the streams as they are: another name for the
 * same file if nobody writes to it any more, else a copy. If possible, they are neither decoded nor read.
 */
#include "merge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <base/text.h>
#include <pack/files.h>

#define METADATA     "metadata"
#define SYMBOLS      ".symbols"
#define METADATA_MAX (1u << 30)
#define PIECE_BYTES  65536

struct writing {
	const struct hodo_merge_recording *r;
	const struct hodo_tree *tree;
	int out_fd;
	bool copy, single; /* single: the recording is one folder */
	struct hodo_merge_written *written;
};

/* What cannot be shared is read and written. */
static int copy_by_hand(int from, uint64_t at, uint64_t end, int to)
{
	char piece[PIECE_BYTES];
	int err = 0;

	while (!err && at < end) {
		size_t want = end - at < sizeof(piece) ? (size_t)(end - at) : sizeof(piece);
		ssize_t n = hodo_file_read_at(from, piece, want, at);

		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		err = hodo_file_write(to, piece, (size_t)n);
		at += (uint64_t)n;
	}
	return err;
}

static int copy_bytes(const struct hodo_tree_file *f, int to)
{
	loff_t at = (loff_t)f->at;
	uint64_t end = f->at + f->bytes;

	if (f->at == 0 && ioctl(to, FICLONE, f->fd) == 0)
		return ftruncate(to, (off_t)f->bytes) < 0 ? -errno : 0;
	while ((uint64_t)at < end) {
		ssize_t n = copy_file_range(f->fd, &at, to, NULL, (size_t)(end - (uint64_t)at), 0);

		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
			return -errno;
		return copy_by_hand(f->fd, (uint64_t)at, end, to);
	}
	return 0;
}

/* Gives the file to the owner of the recording that it was made of, who chose its contents. */
static int close_file(int fd, uid_t owner, int err)
{
	if (!err && geteuid() == 0 && owner != 0 && fchown(fd, owner, (gid_t)-1) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

static int copy_file(struct writing *w, const char *from, const char *to)
{
	struct hodo_tree_file f;
	int err = hodo_tree_file(w->tree, from, &f), fd;

	if (err)
		return err;
	fd = hodo_file_make(w->out_fd, to);
	err = fd < 0 ? fd : close_file(fd, f.owner, copy_bytes(&f, fd));
	w->written->bytes += f.bytes;
	w->written->copied += f.bytes;
	close(f.fd);
	return err;
}

static int link_file(struct writing *w, const char *from, const char *to)
{
	int dirfd = hodo_tree_dirfd(w->tree);
	struct stat st;

	if (w->copy || !w->r->complete || dirfd < 0 || linkat(dirfd, from, w->out_fd, to, 0) < 0)
		return copy_file(w, from, to);
	if (fstatat(w->out_fd, to, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	w->written->bytes += (uint64_t)st.st_size;
	return 0;
}

/* The whole text; of metadata, what it becomes in a merge. */
static int write_text(struct writing *w, const char *from, const char *to, bool metadata)
{
	HODO_AUTO(hodo_text_free) struct hodo_text old = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text new = { 0 };
	const struct hodo_text *text = metadata ? &new : &old;
	uid_t owner = 0;
	int err = hodo_tree_read(w->tree, from, METADATA_MAX, &old, &owner), fd;

	if (!err && metadata)
		err = hodo_merge_metadata(w->r, &old, &new);
	if (err)
		return err;
	fd = hodo_file_make(w->out_fd, to);
	w->written->bytes += text->len;
	return fd < 0 ? fd : close_file(fd, owner, hodo_file_write(fd, text->data, text->len));
}

/*
 * The symbols of all hosts are one directory, where readers look for them. A name that is a build-id means the same
 * everywhere; the others depend on a path, which on another host is another file.
 */
static int share_symbols(struct writing *w, const char *to)
{
	const char *name = strrchr(to, '/') + 1;
	char shared[NAME_MAX + sizeof(SYMBOLS) + 1];
	int err = 0;

	if (name[0] == 'p')
		return 0;
	snprintf(shared, sizeof(shared), SYMBOLS "/%.*s", NAME_MAX, name);
	err = hodo_dirs_make(w->out_fd, shared);
	if (!err && linkat(w->out_fd, to, w->out_fd, shared, 0) < 0 && errno != EEXIST && errno != EMLINK)
		err = -errno;
	return err;
}

static int write_file(struct writing *w, const struct hodo_file_name *file)
{
	const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
	bool packed = hodo_tree_packs(w->tree, file->path), symbols = strstr(file->path, SYMBOLS "/") != NULL;
	bool metadata = strcmp(name, METADATA) == 0, stream = !metadata && !symbols;
	char from[PATH_MAX], to[PATH_MAX];
	int err;

	if (snprintf(from, sizeof(from), "%s%s", file->path, file->suffixed ? HODO_FRAMES_SUFFIX : "") >= PATH_MAX)
		return -ENAMETOOLONG;
	/* In a packed one all are compressed, and streams can stay so. */
	if (snprintf(to, sizeof(to), "%s%s/%s%s", w->r->folder, w->single && !symbols ? "/process" : "", file->path,
		     stream && (packed || file->suffixed) ? HODO_FRAMES_SUFFIX : "") >= PATH_MAX)
		return -ENAMETOOLONG;
	err = hodo_dirs_make(w->out_fd, to);
	if (!err && (metadata || (packed && !stream)))
		err = write_text(w, from, to, metadata);
	else if (!err)
		err = link_file(w, from, to);
	if (!err && symbols)
		err = share_symbols(w, to);
	w->written->files++;
	return err;
}

int hodo_merge_write(struct hodo_merge *m, uint32_t i, int out_fd, bool copy, struct hodo_merge_written *written)
{
	struct hodo_merge_recording *r = &m->recording[i];
	struct writing w = { .r = r, .out_fd = out_fd, .copy = copy, .written = written };
	struct hodo_files files = { 0 };
	struct hodo_tree *tree;
	int err = hodo_tree_open(&tree, r->path);
	const char *path = r->path;

	if (err)
		return hodo_why(&m->why, err, "%s: cannot be read: %s", r->path, strerror(-err));
	w.tree = tree;
	w.single = hodo_tree_has(tree, METADATA);
	err = hodo_files_find(&files, tree, "");
	for (uint32_t k = 0; k < files.n && !err; k++) {
		path = files.files[k].path;
		err = write_file(&w, &files.files[k]);
	}
	hodo_files_free(&files);
	hodo_tree_close(tree);
	return err ? hodo_why(&m->why, err, "%s: %s: %s", r->path, path, strerror(-err)) : 0;
}
