/* SPDX-License-Identifier: MIT */
/*
 * file.h - an open ELF file: an executable, a library, or a file of debug information.
 *
 * Files are hostile input. Only regular files are opened, not devices and FIFOs. They are read, not mapped: a
 * mapped file that shrinks raises SIGBUS. Sections are libelf's copies, bounded by the file's size. Use a
 * hodo_elf in one thread at a time.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HODO_ELF_BUILD_ID_MAX 64u /* bytes */

struct hodo_elf {
	int fd; /* -1: none */
	Elf *elf;
};

#define HODO_ELF_CLOSED ((struct hodo_elf){ .fd = -1 })

/* 0; -ENOEXEC: not a regular file, or not ELF; errors of open(2). After an error it is closed. */
int hodo_elf_open(struct hodo_elf *e, const char *path);
/* hodo_elf_open() of a file that is open: the descriptor is the hodo_elf's from now on, also after an error. */
int hodo_elf_take(struct hodo_elf *e, int fd);
void hodo_elf_close(struct hodo_elf *e); /* once more does nothing */

/* Its build-id's length in bytes; 0: it has none, or one that is too long. */
size_t hodo_elf_build_id(const struct hodo_elf *e, uint8_t build_id[HODO_ELF_BUILD_ID_MAX]);
/* Whether it has that build-id. */
bool hodo_elf_is(const struct hodo_elf *e, const uint8_t *build_id, size_t len);

/*
 * The next section after `after` (NULL: the first) with that name (NULL: any) and bytes in the file, or NULL.
 */
Elf_Scn *hodo_elf_section(Elf *elf, Elf_Scn *after, const char *name, GElf_Shdr *header);
const char *hodo_elf_section_name(Elf *elf, const GElf_Shdr *header); /* "" where it has none */
/* Its address, and its bytes in the file, in libelf's memory; NULL: no such section. */
const uint8_t *hodo_elf_section_bytes(Elf *elf, const char *name, uint64_t *address, size_t *size);
const char *hodo_elf_soname(Elf *elf); /* DT_SONAME, "" if it has none; in libelf's memory */
bool hodo_elf_has_lines(Elf *elf);
/* Whether it has names that go beyond what it exports, or debug information: it is no stripped one. */
bool hodo_elf_has_symbols(Elf *elf);
/* Whether the bytes of all its sections are in the file: one that was cut short has lost its end, where the table of
 * the sections is. */
bool hodo_elf_is_whole(const struct hodo_elf *e);

/* The program header at *next or after it with that type (PT_NULL: any) and at least those PF_*; *next is then the one
 * after it. False: no more. */
bool hodo_elf_segment(Elf *elf, size_t *next, uint32_t type, uint32_t rights, GElf_Phdr *header);
/* Reads the bytes that the loader would put at that address. 0, -EBADMSG if the file has none there, -EIO. */
int hodo_elf_read_at(const struct hodo_elf *e, uint64_t address, void *to, size_t len);

/* A relocation that the loader makes: the machine's type, symbol's name ("" if none) and value. */
typedef int (*hodo_elf_relocation_fn)(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol,
				      uint64_t value);
/* Calls each for every relocation until it returns other than 0; returns that. -EBADMSG: damaged. */
int hodo_elf_relocations(Elf *elf, hodo_elf_relocation_fn each, void *arg);
