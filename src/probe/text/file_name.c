/* SPDX-License-Identifier: MIT */
/* file_name.c - see file_name.h. */
#include "file_name.h"

#include <string.h>

#include <core/glob.h>

static bool is_name(const char *text, size_t len, const char *name)
{
	return hodo_glob(text, len, name, strlen(name)) || (strncmp(name, text, len) == 0 && name[len] == '.');
}

bool hodo_probe_file_is(const char *text, size_t len, const char *path, const char *soname)
{
	const char *slash = strrchr(path, '/');

	return (strlen(path) == len && memcmp(path, text, len) == 0) || is_name(text, len, slash ? slash + 1 : path) ||
	       (*soname && is_name(text, len, soname));
}
