/* SPDX-License-Identifier: MIT */
/* image_file.h - why libhodo is not in a program, as far as its file says. */
#ifndef HODO_RECORD_IMAGE_FILE_H
#define HODO_RECORD_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A sentence with the program's path, as struct hodo_image has it, printable and cut to size; the file, which the user
 * uid has named, is reached with that user's rights. look: otherwise it is not. False: the file says nothing, and the
 * sentence leaves it open.
 */
bool hodo_image_file_why(const char *path, uid_t uid, bool look, char *why, size_t size);

#endif
