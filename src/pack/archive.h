/* SPDX-License-Identifier: MIT */
/* archive.h - a packed recording: its members, found and written. */
#pragma once

#include <stdbool.h>

#include <base/arena.h>

#include "frames.h"

#define HODO_ARCHIVE_DEPTH   4u /* names in a path */
#define HODO_ARCHIVE_MEMBERS (1u << 20)

struct hodo_archive_entry {
	const char *path; /* without .zst */
	uint64_t at, bytes;
};

struct hodo_archive {
	struct hodo_arena memory;
	struct hodo_archive_entry *members; /* by path */
	uint32_t n;
	struct hodo_frames_fault fault;
};

/* Whether a path is valid: no name is "", "." or "..", and there are not too many. */
bool hodo_archive_path_ok(const char *path);

/* Whether a file begins like a packed recording. */
bool hodo_archive_is(int fd);
/* Finds the members. 0; -ENOTDIR: not an archive; -EPROTONOSUPPORT; or another negative errno. */
int hodo_archive_find(struct hodo_archive *a, int fd);
void hodo_archive_free(struct hodo_archive *a);
/* The index of the first member at or after the path. */
uint32_t hodo_archive_search(const struct hodo_archive *a, const char *path);

/* Writing, in any order. 0 or a negative errno. */
struct hodo_archive_out {
	int fd;
	uint64_t at;     /* where the next bytes go */
	bool failed;     /* it cannot be written */
	uint64_t member; /* where its header goes; everything from there to `at` belongs to it */
};
int hodo_archive_begin(struct hodo_archive_out *o, int fd);
void hodo_archive_member(struct hodo_archive_out *o);
int hodo_archive_add(struct hodo_archive_out *o, const void *bytes, size_t n);
int hodo_archive_member_end(struct hodo_archive_out *o, const char *path);
int hodo_archive_end(struct hodo_archive_out *o);
