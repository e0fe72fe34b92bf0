/* SPDX-License-Identifier: MIT */
/* source_file.h - the files of source that the functions of an object were written in, by its debug information. */
#ifndef HODO_PROBE_SOURCE_FILE_H
#define HODO_PROBE_SOURCE_FILE_H

#include <elf/dwarf.h>

struct hodo_source_range {
	uint64_t start;
	const char *path; /* the debug information's */
};

/* All zero to begin with. */
struct hodo_source_files {
	struct hodo_source_range *ranges; /* by start: of functions, and of parts that were moved away from them */
	uint32_t n;
};

/* 0 or -ENOMEM; without debug information there are none. They are valid as long as it is open. */
int hodo_source_files_read(struct hodo_source_files *s, const struct hodo_elf_dwarf *d);
void hodo_source_files_free(struct hodo_source_files *s);

/* Of the function, or part, that begins there; NULL: not known. */
const char *hodo_source_file_at(const struct hodo_source_files *s, uint64_t start);
/* Whether the text of so many bytes, a glob, is the path, or its end, from a / on. */
bool hodo_source_file_is(const char *text, size_t len, const char *path);

#endif
