/* SPDX-License-Identifier: MIT */
/* folder.h - a private folder for the program, and files in it. A failure ends the program. */
#ifndef HODO_TESTS_FOLDER_H
#define HODO_TESTS_FOLDER_H

#include <stddef.h>
#include <stdint.h>

/* Created below $TMPDIR at the first call; removed when the program exits, with its contents. */
const char *folder(void);
/* "FOLDER/NAME", in one of a few buffers that are used in turn. */
const char *folder_path(const char *name);
void folder_write(const char *path, const void *data, size_t len);
/* The file's bytes, in memory that the caller frees. */
uint8_t *folder_read(const char *path, size_t *len);
/* A file with these bytes, in memory only, until the descriptor is closed; stores its path in `path`. */
int folder_memory(char path[32], const void *data, size_t len);

#endif
