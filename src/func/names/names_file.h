/* SPDX-License-Identifier: MIT */
/* names_file.h - between names.c (symbols), function_name.c and names_file.c. */
#pragma once

#include <elf.h>
#include <link.h>
#include <user/user.h>

#define HODO_BUILD_ID_MAX 64u
struct hodo_build_id {
	uint32_t n; /* 0: there is none */
	uint8_t bytes[HODO_BUILD_ID_MAX];
};

struct hodo_names_file {
	long fd;
	uint64_t size;
	uint8_t *image; /* memory of that size: parts are read at their offsets in the file. NULL: no file */
	const ElfW(Ehdr) *header;
	const ElfW(Phdr) *phdr;
	const ElfW(Shdr) *sections;
	uint32_t nphdr, nsections;
	const char *section_names;
	uint64_t section_names_bytes;
};

/* Reads this process's memory, which may be unmapped by now. */
HODO_HIDDEN bool hodo_names_peek(uintptr_t from, void *to, size_t bytes);
/* Whether the ELF header belongs to a program or library for this machine. */
HODO_HIDDEN bool hodo_names_header(const ElfW(Ehdr) *header);
/* Of a loaded object. */
HODO_HIDDEN void hodo_names_identify(const struct dl_phdr_info *info, struct hodo_build_id *id);

/* Opens the file, if it is that object's; info NULL: its separate debug file. */
HODO_HIDDEN bool hodo_names_file_open(struct hodo_names_file *f, const char *path, const struct dl_phdr_info *info,
				      const struct hodo_build_id *id);
HODO_HIDDEN bool hodo_names_file_debug(struct hodo_names_file *f, const struct hodo_build_id *id);
/* What was read stays valid until it is closed. */
HODO_HIDDEN void hodo_names_file_done(struct hodo_names_file *f);
HODO_HIDDEN void hodo_names_file_close(struct hodo_names_file *f);

/* A part of the file; NULL: outside the file, too large, or not aligned as a table. */
HODO_HIDDEN void *hodo_names_file_table(const struct hodo_names_file *f, uint64_t offset, uint64_t bytes);
/* A section of texts, the last of which is terminated; NULL: it is not one. */
HODO_HIDDEN char *hodo_names_file_texts(const struct hodo_names_file *f, uint32_t section, uint64_t *bytes);
