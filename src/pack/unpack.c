/* SPDX-License-Identifier: MIT */
/* unpack.c - restores the files of a recording. No path leads out of the directory, and no link is followed. */
#include "pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>

#include "archive.h"
#include "files.h"

#define PIECE_BYTES (1u << 20)

/* Makes the directories of a path, and the file. Its descriptor or a negative errno. */
static int make_file(int dirfd, const char *path)
{
	HODO_AUTO_CLOSE int at = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	char name[NAME_MAX + 1];

	for (; at >= 0; path += strlen(name) + 1) {
		size_t len = strcspn(path, "/");
		int err, below;

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		if (!path[len])
			return hodo_file_make(at, name);
		err = hodo_dir_make(at, name);
		below = err && err != -EEXIST ? err : hodo_dir_open(at, name);
		if (below < 0)
			return below;
		close(at);
		at = below;
	}
	return -errno;
}

static int copy_bytes(struct hodo_file_reader *r, int to, uint8_t *buffer)
{
	int err = 0;

	for (uint64_t at = 0; !err && at < r->size; at += PIECE_BYTES) {
		size_t n = r->size - at < PIECE_BYTES ? (size_t)(r->size - at) : PIECE_BYTES;

		err = hodo_file_reader_read(r, buffer, n, at);
		if (!err)
			err = hodo_file_write(to, buffer, n);
	}
	return err;
}

static int unpack_file(const struct hodo_tree *tree, int dirfd, const struct hodo_file_name *name, uint8_t *buffer,
		       struct hodo_pack_totals *totals)
{
	struct hodo_file_reader r;
	int err, to;

	if (!hodo_archive_path_ok(name->path))
		return -EINVAL;
	err = hodo_file_reader_open(&r, tree, name);
	if (err)
		return err;
	to = make_file(dirfd, name->path);
	err = to < 0 ? to : copy_bytes(&r, to, buffer);
	if (to >= 0 && close(to) < 0 && !err)
		err = -errno;
	totals->files++;
	totals->plain_bytes += r.size;
	totals->damaged += r.frames && hodo_frames_fault(r.frames)->why;
	hodo_file_reader_close(&r);
	return err;
}

int hodo_unpack(const struct hodo_tree *tree, int dirfd, struct hodo_pack_totals *totals, char *error, size_t size)
{
	HODO_AUTO(hodo_files_free) struct hodo_files files;
	HODO_AUTO_FREE uint8_t *buffer = malloc(PIECE_BYTES);
	int err = hodo_files_find(&files, tree, "");

	*totals = (struct hodo_pack_totals){ .skipped = files.skipped };
	snprintf(error, size, "%s", "the list of files");
	if (!err && !buffer)
		err = -ENOMEM;
	for (uint32_t i = 0; i < files.n && !err; i++) {
		snprintf(error, size, "%s", files.files[i].path);
		err = unpack_file(tree, dirfd, &files.files[i], buffer, totals);
	}
	return err;
}
