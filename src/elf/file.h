/* SPDX-License-Identifier: MIT */
/*
 * file.h - an ELF file that is open: an executable, a library, or a file of debug information.
 *
 * Files are hostile input. They are opened only if they are regular: devices and FIFOs are looked at, no more. They are
 * read, not mapped: a file that shrinks under a mapping is a SIGBUS. Sections are libelf's copies, bounded by
 * the file's size. One hodo_elf by one thread at a time.
 */
#ifndef HODO_ELF_FILE_H
#define HODO_ELF_FILE_H

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

/* 0; -ENOEXEC: not a regular file, or no ELF; what open(2) gives. After an error it is closed. */
int hodo_elf_open(struct hodo_elf *e, const char *path);
void hodo_elf_close(struct hodo_elf *e); /* once more does nothing */

/* Whether it has that build-id. */
bool hodo_elf_is(const struct hodo_elf *e, const uint8_t *build_id, size_t len);

/* The next section behind `after` (NULL: the first) of that name (NULL: any), with bytes in the file. NULL: none. */
Elf_Scn *hodo_elf_section(Elf *elf, Elf_Scn *after, const char *name, GElf_Shdr *header);
const char *hodo_elf_section_name(Elf *elf, const GElf_Shdr *header); /* "" where it has none */
/* Its address and bytes, as they are in the file, in libelf's memory; NULL: there is none such. */
const uint8_t *hodo_elf_section_bytes(Elf *elf, const char *name, uint64_t *address, size_t *size);
const char *hodo_elf_soname(Elf *elf); /* DT_SONAME, "" if it has none; in libelf's memory */
bool hodo_elf_has_lines(Elf *elf);

/* Reads bytes that the loader would put at that address. 0, -EBADMSG if the file has none there, -EIO. */
int hodo_elf_read_at(const struct hodo_elf *e, uint64_t address, void *to, size_t len);

/* A relocation that the loader makes: type of the machine, symbol's name ("" if it has none) and value. */
typedef int (*hodo_elf_relocation_fn)(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol,
				      uint64_t value);
/* Calls each for every one until it returns other than 0, which is returned. -EBADMSG: damaged. */
int hodo_elf_relocations(Elf *elf, hodo_elf_relocation_fn each, void *arg);

#endif
