/* SPDX-License-Identifier: MIT */
/* names_file.h - between names.c (symbols) and names_file.c. */
#ifndef HODO_FUNC_NAMES_FILE_H
#define HODO_FUNC_NAMES_FILE_H

#include <elf.h>
#include "names.h"

#ifndef HODO_NAMES_DEBUG /* the tests have one of their own */
#define HODO_NAMES_DEBUG "/usr/lib/debug"
#endif
#define HODO_BUILD_ID_MAX 64u
#define HODO_NAMES_NOTES_MAX 4096u /* bytes of a segment of notes that are looked at */

/* Memory of our own; one more byte than asked for, which is zero. */
struct hodo_names_piece {
	void *p;
	size_t bytes, mapped;
};

struct hodo_names_file {
	long fd;
	uint64_t size;
	ElfW(Ehdr) header;
	struct hodo_names_piece sections, section_names;
};

struct hodo_build_id {
	uint32_t n;
	uint8_t bytes[HODO_BUILD_ID_MAX];
};

/* What opening needs besides: too much for a small stack. */
struct hodo_names_opening {
	uint8_t notes[HODO_NAMES_NOTES_MAX];
	ElfW(Phdr) phdr[HODO_NAMES_PHDRS_MAX];
	struct hodo_build_id id;
	struct hodo_names_file file, debug;
	char path[2 * HODO_BUILD_ID_MAX + sizeof(HODO_NAMES_DEBUG) + 32];
};

HODO_HIDDEN bool hodo_names_piece_make(struct hodo_names_piece *piece, size_t bytes);
HODO_HIDDEN void hodo_names_piece_free(struct hodo_names_piece *piece);

/* Before a file is opened: which one is loaded. */
HODO_HIDDEN void hodo_names_file_identify(struct hodo_names_opening *o, const struct dl_phdr_info *info);
/* Opens o->file: the file at path, if it is the one. */
HODO_HIDDEN bool hodo_names_file_loaded(struct hodo_names_opening *o, const struct dl_phdr_info *info,
					const char *path);
/* Opens o->debug: its separate debug file, if there is one. */
HODO_HIDDEN bool hodo_names_file_debug(struct hodo_names_opening *o);
HODO_HIDDEN void hodo_names_file_close(struct hodo_names_file *f);

HODO_HIDDEN uint32_t hodo_names_file_count(const struct hodo_names_file *f);
/* NULL: there are not so many. */
HODO_HIDDEN const ElfW(Shdr) *hodo_names_file_section(const struct hodo_names_file *f, uint32_t i);
/* A part of the file in memory; false: it is not in the file, too large, or there is no memory. */
HODO_HIDDEN bool hodo_names_file_piece(const struct hodo_names_file *f, uint64_t offset, uint64_t bytes,
				       struct hodo_names_piece *piece);

#endif
