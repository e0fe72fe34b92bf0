/* SPDX-License-Identifier: MIT */
/* file.h - files read and written whole: interrupted and partial transfers go on. Directories, name by name. */
#ifndef HODO_BASE_FILE_H
#define HODO_BASE_FILE_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

/* Opens a regular file to be read, no link, and waits for nothing: its descriptor, or a negative errno; -ESTALE: it is
 * something else. */
int hodo_file_open(int dirfd, const char *path);
/* Appends all that fd has from where it is on. 0 or a negative errno: -EFBIG if the text would be longer than max. */
int hodo_file_read(int fd, size_t max, struct hodo_text *text);
/* Bytes read at an offset: len, or fewer at the end of the file alone; or a negative errno. */
ssize_t hodo_file_read_at(int fd, void *to, size_t len, uint64_t at);
/* Where it has bytes that are no hole's, at or behind `at`: end if there are none before that. */
uint64_t hodo_file_data_at(int fd, uint64_t at, uint64_t end);
/*
 * Makes a file to be written, or a directory, where nothing stood under that name, no link either. What root makes is
 * for root alone: it names programs and files that others may not read. The descriptor, or 0; or a negative
 * errno.
 */
int hodo_file_make(int dirfd, const char *name);
int hodo_dir_make(int dirfd, const char *name);
/* All of it. 0 or a negative errno. */
int hodo_file_write(int fd, const void *data, size_t len);
/*
 * What one read() gives of a file, as the small ones of /proc and /sys are to be read: at most size - 1 bytes and a
 * NUL; one newline at the end is taken off. path is below dirfd, as openat(2) has it. The length, or a negative errno,
 * and then to is "".
 */
ssize_t hodo_file_line(int dirfd, const char *path, char *to, size_t size);

/* Opens a directory, no link: its descriptor or a negative errno. */
int hodo_dir_open(int dirfd, const char *name);
/* The same to be listed; NULL, with errno: it cannot be. A directory that is open already: its descriptor and ".". */
DIR *hodo_dir_list(int dirfd, const char *name);
/* The next name in it, without "." and ".."; NULL: there are no more. dir may be NULL. */
const char *hodo_dir_next(DIR *dir);

#endif
