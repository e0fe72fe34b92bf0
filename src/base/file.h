/* SPDX-License-Identifier: MIT */
/* file.h - reads and writes whole files: interrupted and partial transfers are continued. Lists directories. */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

/* Opens a regular file for reading, not a link, without blocking: its descriptor, or a negative errno;
 * -ESTALE: something else. */
int hodo_file_open(int dirfd, const char *path);
/* Appends everything from fd's current offset on. 0 or a negative errno: -EFBIG if the text would be longer
 * than max. */
int hodo_file_read(int fd, size_t max, struct hodo_text *text);
/* Bytes read at an offset: len, fewer only at the end of the file; or a negative errno. */
ssize_t hodo_file_read_at(int fd, void *to, size_t len, uint64_t at);
/* The next offset, from `at` on, that is not in a hole; end if there is none before it. */
uint64_t hodo_file_data_at(int fd, uint64_t at, uint64_t end);
/*
 * Makes a new file for writing, or a directory; nothing, not even a link, may have that name. What root makes
 * is only accessible to root: it names programs and files that others may not read. The descriptor, or 0; or
 * a negative errno.
 */
int hodo_file_make(int dirfd, const char *name);
int hodo_dir_make(int dirfd, const char *name);
/* Makes the directories of a path, except for its last name, where they are not there. 0 or a negative errno. */
int hodo_dirs_make(int dirfd, const char *path);
/* All of it. 0 or a negative errno. */
int hodo_file_write(int fd, const void *data, size_t len);
/*
 * Reads a file by a single read(), as small ones in /proc and /sys require: at most size - 1 bytes and a NUL,
 * without one newline at the end. path is relative to dirfd, as in openat(2). The length; or a negative
 * errno, and to is "".
 */
ssize_t hodo_file_line(int dirfd, const char *path, char *to, size_t size);

/* The directory of the program that runs here. False: not known. */
bool hodo_file_own_dir(char dir[PATH_MAX]);

/* Opens a directory, not a link: its descriptor or a negative errno. */
int hodo_dir_open(int dirfd, const char *name);
/* Opens a directory, not a link, to list it; NULL and errno on failure. An open one: its descriptor and ".". */
DIR *hodo_dir_list(int dirfd, const char *name);
/* The next name in it, without "." and ".."; NULL: no more. dir may be NULL. */
const char *hodo_dir_next(DIR *dir);
