/* SPDX-License-Identifier: MIT */
/* source_file.h - the source files of an object's functions, from its debug information. */
#ifndef HODO_PROBE_CODE_SOURCE_FILE_H
#define HODO_PROBE_CODE_SOURCE_FILE_H

#include <elf/dwarf.h>

struct hodo_source_range {
	uint64_t start;
	const char *path; /* the debug information's */
};

/* Initially all zero. */
struct hodo_source_files {
	struct hodo_source_range *ranges; /* by start: of functions, and of their moved parts */
	uint32_t n;
};

/* 0 or -ENOMEM; empty without debug information. Valid as long as that is open. */
int hodo_source_files_read(struct hodo_source_files *s, const struct hodo_elf_dwarf *d);
void hodo_source_files_free(struct hodo_source_files *s);

/* The source of the function, or part, that begins there; NULL: not known. */
const char *hodo_source_file_at(const struct hodo_source_files *s, uint64_t start);
/* Whether the text of that many bytes, a glob, matches the path, or its end after a /. */
bool hodo_source_file_is(const char *text, size_t len, const char *path);

#endif
