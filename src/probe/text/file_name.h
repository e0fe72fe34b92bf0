/* SPDX-License-Identifier: MIT */
/* file_name.h - users' names for the file of a program or library. */
#ifndef HODO_PROBE_TEXT_FILE_NAME_H
#define HODO_PROBE_TEXT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the text of that many bytes names the file: by its path, by its name or its soname as a glob, or by
 * either up to a dot ("libz.so" is libz.so.1). soname: "" if it has none.
 */
bool hodo_probe_file_is(const char *text, size_t len, const char *path, const char *soname);

#endif
