/* SPDX-License-Identifier: MIT */
/* file.h - files read and written whole: interrupted and partial transfers go on. */
#ifndef HODO_BASE_FILE_H
#define HODO_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

/* Appends all that fd has from where it is on. 0 or a negative errno: -EFBIG if the text would be longer than max. */
int hodo_file_read(int fd, size_t max, struct hodo_text *text);
/* Bytes read at an offset: len, or fewer at the end of the file alone; or a negative errno. */
ssize_t hodo_file_read_at(int fd, void *to, size_t len, uint64_t at);
/* All of it. 0 or a negative errno. */
int hodo_file_write(int fd, const void *data, size_t len);

#endif
