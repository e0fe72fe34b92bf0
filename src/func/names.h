/* SPDX-License-Identifier: MIT */
/* names.h - between names.c and function_name.c; see func.h for what others use. */
#ifndef HODO_FUNC_NAMES_H
#define HODO_FUNC_NAMES_H

#include "func.h"

/* The file was found to be the mapped one by its build-id, not only by what its headers say. */
HODO_HIDDEN bool hodo_names_verified(const struct hodo_names *names);
/* Gives back what only hodo_names_section() and hodo_names_symbol() need. */
HODO_HIDDEN void hodo_names_trim(struct hodo_names *names);

/* A regular file for reading, not waited for; negative errno. size, device and inode may be NULL. */
HODO_HIDDEN long hodo_names_file(const char *path, uint64_t *size, uint64_t *device, uint64_t *inode);
/* All bytes, or false. */
HODO_HIDDEN bool hodo_names_read(long fd, uint64_t offset, void *to, size_t bytes);
/* Whether the ELF header is one of a program or library of this machine's kind. */
HODO_HIDDEN bool hodo_names_header(const ElfW(Ehdr) *header);

#define HODO_NAMES_PHDRS_MAX 64

#endif
