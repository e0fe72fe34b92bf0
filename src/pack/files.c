/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/file.h>
#include <base/order.h>
#include <base/vec.h>

#include "archive.h"

#define SYMBOLS ".symbols"

struct walk {
	struct hodo_files *files;
	const struct hodo_tree *tree;
	const char *dir; /* "": the tree itself */
	unsigned int depth;
};

static int add(void *arg, const char *name, enum hodo_tree_kind kind);

static int walk_dir(const struct walk *w, const char *path)
{
	struct walk below = { w->files, w->tree, path, w->depth + 1 };

	return hodo_tree_list(w->tree, *path ? path : ".", add, &below);
}

/* Names that start with a dot are being written, or not ours, except for the symbols. */
static bool is_wanted(const struct walk *w, const char *name, enum hodo_tree_kind kind)
{
	bool dir = kind == HODO_TREE_DIR;

	return (name[0] != '.' || (dir && strcmp(name, SYMBOLS) == 0)) && (dir || kind == HODO_TREE_FILE) &&
	       w->depth < HODO_ARCHIVE_DEPTH + !dir;
}

static int add(void *arg, const char *name, enum hodo_tree_kind kind)
{
	struct walk *w = arg;
	struct hodo_file_name file = { 0 };
	char path[PATH_MAX];
	size_t len;
	int n;

	if (!is_wanted(w, name, kind)) {
		w->files->skipped++;
		return 0;
	}
	n = snprintf(path, sizeof(path), "%s%s%s", w->dir, *w->dir ? "/" : "", name);
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (kind == HODO_TREE_DIR)
		return walk_dir(w, path);
	if (w->files->n == HODO_ARCHIVE_MEMBERS)
		return -E2BIG;
	len = hodo_tree_packs(w->tree, path) ? 0 : hodo_frames_name(name);
	file.suffixed = len > 0;
	file.path = hodo_arena_copy(&w->files->memory, path, (size_t)n - (len ? strlen(name) - len : 0));
	return file.path ? hodo_vec_push(w->files->files, w->files->n, file) : -ENOMEM;
}

static int by_path(const void *a, const void *b)
{
	const struct hodo_file_name *x = a, *y = b;

	return strcmp(x->path, y->path) ?: x->suffixed - y->suffixed;
}

int hodo_files_find(struct hodo_files *f, const struct hodo_tree *tree, const char *below)
{
	struct walk top = { f, tree, "", 0 };
	uint32_t kept = 0;
	int err;

	*f = (struct hodo_files){ 0 };
	err = walk_dir(&top, below);
	if (err)
		return err == -ENOENT && *below ? 0 : err;
	hodo_order_sort(f->files, f->n, by_path);
	/* If a stream exists compressed and uncompressed, readers take the latter. */
	for (uint32_t i = 0; i < f->n; i++) {
		if (kept && strcmp(f->files[kept - 1].path, f->files[i].path) == 0)
			f->skipped++;
		else
			f->files[kept++] = f->files[i];
	}
	f->n = kept;
	return 0;
}

void hodo_files_free(struct hodo_files *f)
{
	hodo_arena_free(&f->memory);
	free(f->files);
}

int hodo_file_reader_open(struct hodo_file_reader *r, const struct hodo_tree *tree, const struct hodo_file_name *name)
{
	char path[PATH_MAX];
	int err;

	*r = (struct hodo_file_reader){ .file.fd = -1 };
	snprintf(path, sizeof(path), "%s%s", name->path, name->suffixed ? HODO_FRAMES_SUFFIX : "");
	err = hodo_tree_file(tree, path, &r->file);
	if (err)
		return err;
	r->size = r->file.bytes;
	if (r->file.compressed) {
		err = hodo_frames_open(&r->frames, &r->pool, r->file.fd, r->file.at, r->file.bytes);
		r->size = err ? 0 : hodo_frames_size(r->frames);
	}
	if (err)
		hodo_file_reader_close(r);
	return err;
}

int hodo_file_reader_read(struct hodo_file_reader *r, void *to, size_t len, uint64_t at)
{
	ssize_t n = r->frames ? hodo_frames_read(r->frames, r->file.fd, to, len, at) :
				hodo_file_read_at(r->file.fd, to, len, r->file.at + at);

	return n < 0 ? (int)n : (size_t)n < len ? -EIO : 0;
}

void hodo_file_reader_close(struct hodo_file_reader *r)
{
	hodo_frames_free(r->frames);
	hodo_frames_pool_free(&r->pool);
	if (r->file.fd >= 0)
		close(r->file.fd);
}
