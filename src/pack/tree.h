/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the files of a recording, which is a directory or packed into one file. A directory may have packed parts,
 * part-NNNN.hodo, which look like the directories that they were.
 *
 * A packed one is an archive of tar whose members are compressed, docs/design/compressed.md. It is hostile:
 * paths that lead elsewhere, duplicate members and lengths beyond the file are skipped. In both forms, only
 * directories and regular files are opened, and links are not followed.
 */
#pragma once

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
/* The directory's descriptor; -1: packed. */
int hodo_tree_dirfd(const struct hodo_tree *t);
/* Whether the file is in a packed one: the whole recording is, or the part that the path begins with. */
bool hodo_tree_packs(const struct hodo_tree *t, const char *path);
/* The i-th packed part of a directory; NULL: there are fewer. */
const char *hodo_tree_part(const struct hodo_tree *t, uint32_t i);
/* What is wrong with the i-th packed file of it, and which part that is, "." if it is all; NULL: there are fewer. */
const struct hodo_frames_fault *hodo_tree_fault(const struct hodo_tree *t, uint32_t i, const char **part);

/* Whether the path exists, with no link on the way except for the last name. */
bool hodo_tree_has(const struct hodo_tree *t, const char *path);
/*
 * Calls each() for the entries of dir, in any order; ".": the tree itself. Names are the original ones:
 * without .zst if packed. 0, a result of each() other than 0, or a negative errno.
 */
int hodo_tree_list(const struct hodo_tree *t, const char *dir, int (*each)(void *arg, const char *name,
									   enum hodo_tree_kind kind), void *arg);
/* 0, or a negative errno: -ESTALE: not a regular file. The caller owns the descriptor. */
int hodo_tree_file(const struct hodo_tree *t, const char *path, struct hodo_tree_file *file);
/* Appends the whole original file, at most max bytes: 0 or a negative errno, such as -EFBIG. */
int hodo_tree_read(const struct hodo_tree *t, const char *path, size_t max, struct hodo_text *text, uid_t *owner);
