/* SPDX-License-Identifier: MIT */
/*
 * prune.h - removes the oldest recordings below a directory: whole ones, merges, parts, and packed files. What is being
 * written, is unsent, or is no recording stays; no link is followed, and no other file system entered. Of a directory
 * that is a recording itself, parts are removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hodo_prune {
	uint64_t keep_bytes; /* UINT64_MAX: all */
	int64_t keep_ns;     /* INT64_MAX: all */
	bool dry_run;        /* only says what it would remove */
	/* Each of them, by its path below the directory; err: 0, or why it could not be removed, which -EEXIST is of a
	 * recording that has files of others. */
	void (*removed)(void *arg, const char *path, uint64_t bytes, int err);
	void *arg;
	/* Out. */
	bool is_recording; /* the directory is one itself, without parts: nothing could be removed */
	uint64_t kept, kept_bytes, gone, gone_bytes;
	uint32_t failed;
};

/* 0 or a negative errno, of the directory itself. */
int hodo_prune(const char *dir, struct hodo_prune *p);
