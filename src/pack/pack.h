/* SPDX-License-Identifier: MIT */
/*
 * pack.h - a recording as one file, and back. Nothing of the source is changed.
 */
#pragma once

#include "tree.h"

struct hodo_pack_totals {
	uint32_t files;
	uint64_t plain_bytes;  /* of the files as they were before compression */
	uint64_t packed_bytes; /* of the file that was made */
	uint32_t skipped;      /* what is there and no recording's: links, devices, names that start with a dot */
	bool unwritten;        /* the error was in writing the file, not in the recording */
	uint32_t damaged;      /* files with missing data */
};

/*
 * Writes all files of a recording, or only those below a folder of it, to fd, an empty regular file. The output depends
 * only on the files' contents and names. error: which file failed. 0 or a negative errno.
 */
int hodo_pack(const struct hodo_tree *tree, int fd, int level, struct hodo_pack_totals *totals, char *error,
	      size_t size);
int hodo_pack_below(const struct hodo_tree *tree, const char *below, int fd, int level, struct hodo_pack_totals *totals,
		    char *error, size_t size);
/* A part of it, as a recording of its own. */
int hodo_pack_part(const struct hodo_tree *tree, const char *part, int fd, int level, struct hodo_pack_totals *totals,
		   char *error, size_t size);

/* Writes all files of a recording into the empty directory dirfd, none of them compressed. Errors: as hodo_pack(). */
int hodo_unpack(const struct hodo_tree *tree, int dirfd, struct hodo_pack_totals *totals, char *error, size_t size);
