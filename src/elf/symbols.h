/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - the functions of an object, from the symbol tables of its file and of its debug file: all their
 * names, in the order of core/symbol_name.h, which says which of them is shown.
 *
 * Everything is copied: the files may be closed. Filled by one thread, then read by any.
 */
#pragma once

#include "file.h"

#define HODO_ELF_SYMBOLS_MAX (1u << 24)
#define HODO_ELF_NONE        UINT32_MAX

struct hodo_elf_symbol {
	uint64_t start;   /* address in the file */
	uint64_t size;    /* of the function, from any of its symbols; 0: none has it */
	uint64_t end;     /* end of what it is assumed to cover, even if the size is 0 */
	const char *name; /* without a version */
	uint32_t first;   /* index of the shown name at this address */
	uint32_t whole;   /* index of the shown name of the function that this is a part of; else as first */
	uint32_t scope;   /* the source file of a local symbol; 0: global */
	uint32_t rank;
};

/* All names of all functions: by address, and at each address the one that is shown first. */
struct hodo_elf_symbols {
	struct hodo_elf_symbol *list;
	uint32_t n;
	char **texts; /* that names point into */
	uint32_t ntexts;
	uint32_t scope;
	bool full; /* some table had all symbols, not only those for dynamic linking */
};

/* The first symbol with that name, of any kind, that the file defines. */
bool hodo_elf_find_symbol(Elf *elf, const char *name, GElf_Sym *symbol);

/* The address, in the file, of the symbol with that name. False: none, several, or a thread-local one. */
bool hodo_elf_find_address(Elf *elf, const char *name, size_t len, uint64_t *address);

/* Adds the functions of a file. 0, -EBADMSG, -ENOMEM. */
int hodo_elf_symbols_add(struct hodo_elf_symbols *s, Elf *elf);
/* When all are added: sorts them, and drops duplicates. */
void hodo_elf_symbols_sort(struct hodo_elf_symbols *s);
/* After that, if `whole` is needed: finds what parts belong to. 0 or -ENOMEM. */
int hodo_elf_symbols_join(struct hodo_elf_symbols *s);
void hodo_elf_symbols_free(struct hodo_elf_symbols *s);

/* Index of the shown name of the innermost function that covers the address; HODO_ELF_NONE. */
uint32_t hodo_elf_symbols_at(const struct hodo_elf_symbols *s, uint64_t address);
/* Index after the last name of the function whose shown name has this index. */
static inline uint32_t hodo_elf_symbols_next(const struct hodo_elf_symbols *s, uint32_t i)
{
	uint64_t start = s->list[i].start;

	while (++i < s->n && s->list[i].start == start)
		;
	return i;
}
