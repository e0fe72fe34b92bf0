/* SPDX-License-Identifier: MIT */
/* folder.h - a folder of the program's own, and files in it. What cannot be done ends the program. */
#ifndef HODO_TESTS_FOLDER_H
#define HODO_TESTS_FOLDER_H

#include <stddef.h>
#include <stdint.h>

/* Made by the first that asks for it, below $TMPDIR; removed when the program exits, with all in it. */
const char *folder(void);
/* "FOLDER/NAME", in one of a few buffers used in turn. */
const char *folder_path(const char *name);
void folder_write(const char *path, const void *data, size_t len);
/* The file's bytes in memory that the caller frees. */
uint8_t *folder_read(const char *path, size_t *len);
/* The bytes as a file that is in memory alone, until the descriptor is closed; its path is put into `path`. */
int folder_memory(char path[32], const void *data, size_t len);

#endif
