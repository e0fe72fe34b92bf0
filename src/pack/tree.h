/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the files of a recording, which is a directory or packed into one file.
 *
 * A packed one is an archive of tar whose members are compressed, docs/design/compressed.md. It is hostile: paths that
 * lead elsewhere, members that are there twice and lengths beyond the file are passed over. In both, only directories
 * and regular files are opened, and links are not followed.
 */
#ifndef HODO_PACK_TREE_H
#define HODO_PACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <base/text.h>

#include "frames.h"

#define HODO_PACKED_SUFFIX ".hodo"

struct hodo_tree;

enum hodo_tree_kind { HODO_TREE_FILE, HODO_TREE_DIR, HODO_TREE_LINK, HODO_TREE_OTHER };

/* A file that was opened. */
struct hodo_tree_file {
	int fd;
	uint64_t at, bytes; /* where it is in fd */
	bool compressed;    /* by frames */
	dev_t dev;
	ino_t ino;
	uid_t owner;
};

/* 0; -ENOTDIR: neither a directory nor packed; -EPROTONOSUPPORT: packed by a later version; or another errno. */
int hodo_tree_open(struct hodo_tree **tree, const char *path);
void hodo_tree_close(struct hodo_tree *t);
/* Of the directory; -1: it is packed. */
int hodo_tree_dirfd(const struct hodo_tree *t);
/* What is wrong with a packed one. */
const struct hodo_frames_fault *hodo_tree_fault(const struct hodo_tree *t);

/* Whether anything has that path, and no link on its way but in front of the last name. */
bool hodo_tree_has(const struct hodo_tree *t, const char *path);
/*
 * Calls each() for what is in dir, in any order; ".": the tree itself. Names are those that the files had: without .zst
 * where they are packed. 0, what each() returned that was not 0, or a negative errno.
 */
int hodo_tree_list(const struct hodo_tree *t, const char *dir, int (*each)(void *arg, const char *name,
									   enum hodo_tree_kind kind), void *arg);
/* 0, or a negative errno: -ESTALE: it is no regular file. The descriptor is the caller's. */
int hodo_tree_file(const struct hodo_tree *t, const char *path, struct hodo_tree_file *file);
/* Appends all of a file as it was, max bytes at most: 0 or a negative errno, -EFBIG. */
int hodo_tree_read(const struct hodo_tree *t, const char *path, size_t max, struct hodo_text *text, uid_t *owner);

#endif
