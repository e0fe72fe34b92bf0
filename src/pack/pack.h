/* SPDX-License-Identifier: MIT */
/*
 * pack.h - a recording as one file, and back. Nothing of the source is changed.
 */
#ifndef HODO_PACK_PACK_H
#define HODO_PACK_PACK_H

#include "tree.h"

struct hodo_pack_totals {
	uint32_t files;
	uint64_t plain_bytes;  /* of the files as they were before compression */
	uint64_t packed_bytes; /* of the file that was made */
	uint32_t skipped;      /* what is there and no recording's: links, devices, names that start with a dot */
	bool unwritten;        /* an error was the file's that is written, not the recording's */
	uint32_t damaged;      /* files of which something is missing */
};

/*
 * Writes all files of a recording to fd, an empty regular file. What is written depends on what is in the files and on
 * their names, and on nothing else. error: which file it was. 0 or a negative errno.
 */
int hodo_pack(const struct hodo_tree *tree, int fd, int level, struct hodo_pack_totals *totals, char *error,
	      size_t size);

/* Writes all files of a recording into the empty directory dirfd, none of them compressed. Likewise. */
int hodo_unpack(const struct hodo_tree *tree, int dirfd, struct hodo_pack_totals *totals, char *error, size_t size);

#endif
