/* SPDX-License-Identifier: MIT */
/* source.h - the source files of an object's functions, and the code of a source line, from its debug information. */
#pragma once

#include <base/near.h>
#include <elf/dwarf.h>
#include <probe/value/image.h>

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

/* -------------------------------------------------------------------------- lines */

struct hodo_source_line {
	const char *file; /* a path, or its end after a / */
	uint64_t line;
	/* Results. */
	uint64_t *addresses; /* sorted; free it */
	uint32_t n;
	bool file_known;
	uint64_t next;       /* the first later line with code; 0: none */
	struct hodo_near near; /* files with similar names */
};

/* Finds all addresses that begin a statement of the line. 0 or -ENOMEM. */
int hodo_source_line_find(struct hodo_source_line *s, const struct hodo_probe_image *i);
