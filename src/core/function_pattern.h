/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * function_pattern.h - patterns of functions, for the recorder, which chooses in files, and the library, which does so
 * in the process:
 *
 *	[!][FILE!][SOURCE:]GLOB
 *	[!][FILE!]0xSTART-0xEND     addresses, the end excluded
 *
 * Freestanding; any thread. Texts may be hostile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts of the pattern's text; the glob ends where the text ends. */
struct hodo_function_pattern {
	const char *file, *source; /* NULL: of all files; of all sources */
	const char *glob;          /* NULL: a range */
	size_t file_len, source_len;
	uint64_t low, high;
	bool without; /* "!" */
};

/* False: the glob is empty, or what begins like a range is none. */
bool hodo_function_pattern(struct hodo_function_pattern *p, const char *text, size_t len);

/* Length of the FILE that the text begins with; len: there is none. The ! of C++'s operators is part of their names. */
size_t hodo_function_file(const char *text, size_t len);

/*
 * Whether the text names the file: by its path, by its name or its soname as a glob, or by either up to a dot
 * ("libz.so" is libz.so.1). soname: "" if it has none.
 */
bool hodo_function_file_is(const char *text, size_t len, const char *path, const char *soname);
