/* SPDX-License-Identifier: MIT */
/* files.h - all files of a recording, in the order of their paths. */
#pragma once

#include <base/arena.h>

#include "tree.h"

struct hodo_files {
	struct hodo_arena memory;
	struct hodo_file_name {
		const char *path;  /* without .zst */
		bool suffixed;     /* the name in the tree has it */
	} *files;
	uint32_t n;
	uint32_t skipped;
};

/* All, or those below a folder unless it is "". 0 or a negative errno: -E2BIG: too many. */
int hodo_files_find(struct hodo_files *f, const struct hodo_tree *tree, const char *below);
void hodo_files_free(struct hodo_files *f);

/* Reads one of them, as it was before compression. */
struct hodo_file_reader {
	struct hodo_tree_file file;
	struct hodo_frames_pool pool;
	struct hodo_frames *frames; /* NULL: it is not compressed */
	uint64_t size;
};
int hodo_file_reader_open(struct hodo_file_reader *r, const struct hodo_tree *tree, const struct hodo_file_name *name);
/* Reads all len bytes: 0; -EIO: there are fewer; or another negative errno. */
int hodo_file_reader_read(struct hodo_file_reader *r, void *to, size_t len, uint64_t at);
void hodo_file_reader_close(struct hodo_file_reader *r);
