/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - an executable or library that is looked at.
 *
 *	events      elf.c
 *	functions   elf_functions.c (the list), elf_slots.c (kinds of slots), elf_calls.c (those that are calls)
 */
#ifndef HODO_READ_ELF_FILE_H
#define HODO_READ_ELF_FILE_H

#include "internal.h"

#include <libelf.h>

struct elf_class {
	struct hodo_read_class pub;
	struct hodo_read_field fields[HODO_FIELDS_MAX];
	char *strings; /* the descriptor's */
	char *names;   /* of event and fields */
};

struct hodo_read_elf {
	int fd;
	Elf *elf;
	char *path;
	unsigned bad;    /* descriptors that cannot be used */
	uint64_t *descs; /* addresses, one a site */
	uint32_t ndescs, descs_room;
	struct elf_class **classes;
	uint32_t nclasses, classes_room;
	struct hodo_trace labels; /* holds the labels, and nothing else */
	char **texts;             /* that the labels point into */
	uint32_t ntexts, texts_room;
	struct hodo_functions *functions; /* NULL until asked for */
};

/* Reads bytes that the loader would put at addr. 0, -EBADMSG if the file has none there, -EIO. */
int hodo_read_elf_at(const struct hodo_read_elf *e, uint64_t addr, void *dst, size_t len);

/* ---------------------------------------------------------------------- functions */

#define HODO_FUNCTIONS_FOUND_MAX (1u << 24)

struct hodo_elf_symbol {
	uint64_t start, end;
	const char *name; /* in libelf's memory */
};

/* A slot that is a call tells by its target what it is. */
enum hodo_elf_role {
	HODO_ELF_STUB_ENTRY, /* __fentry__ and __return__ of libhodo-functions */
	HODO_ELF_STUB_EXIT,
	HODO_ELF_CYG_ENTER, /* __cyg_profile_func_enter, … exit */
	HODO_ELF_CYG_EXIT,
	HODO_ELF_MCOUNT,
	HODO_ELF_FENTRY
};

#define HODO_ELF_TARGETS_MAX 256u

struct hodo_functions {
	struct hodo_read_function *list;
	uint32_t n, room;
	uint64_t *exits; /* addresses of slots at exits */
	uint32_t nexits, exits_room;
	struct hodo_elf_symbol *symbols; /* functions by start */
	uint32_t nsymbols, symbols_room;
	struct {
		uint64_t addr;
		enum hodo_elf_role role;
		bool pointer; /* what is called stands at addr */
	} target[HODO_ELF_TARGETS_MAX];
	uint32_t ntargets;
};

/* The function that covers the address; NULL: none. */
const struct hodo_elf_symbol *hodo_read_elf_symbol(const struct hodo_functions *f, uint64_t addr);
int hodo_read_functions_add(struct hodo_functions *f, uint64_t addr, enum hodo_read_slot slot);
int hodo_read_functions_exit(struct hodo_functions *f, uint64_t addr);
void hodo_read_functions_free(struct hodo_functions *f);

/* Each adds what it finds. 0, -EBADMSG (what was found stays), -EIO, -ENOMEM. */
int hodo_read_slots_calls(struct hodo_read_elf *e, struct hodo_functions *f);
int hodo_read_slots_xray(struct hodo_read_elf *e, struct hodo_functions *f);
int hodo_read_slots_patchable(struct hodo_read_elf *e, struct hodo_functions *f);

/* Calls for each relocation of the file: type of the machine, symbol's name ("" if it has none). */
int hodo_read_elf_relocations(struct hodo_read_elf *e,
			      int (*each)(void *arg, uint64_t offset, uint32_t type, int64_t addend,
					  const char *symbol, uint64_t value),
			      void *arg);
/* The section's address and bytes; NULL: there is none such. In libelf's memory. */
const uint8_t *hodo_read_elf_section(struct hodo_read_elf *e, const char *name, uint64_t *addr, size_t *size);

#endif
