/* SPDX-License-Identifier: MIT */
/*
 * dwarf.h - opens the debug information of a file for libdw, after checking what libdw does not check itself.
 * The units' own ranges tell which compilation unit contains an address, since not all compilers write
 * .debug_aranges.
 *
 * Files are hostile input. One hodo_elf_dwarf by one thread at a time.
 */
#pragma once

#include <elfutils/libdw.h>

#include "file.h"

#define HODO_ELF_ENDED_MAX   4u
#define HODO_ELF_OVERLAP_MAX 8u /* units that may cover one address */

struct hodo_elf_unit_range {
	uint64_t start, end;
	Dwarf_Off unit;
};

struct hodo_elf_dwarf {
	struct hodo_elf file;
	Dwarf *dwarf; /* NULL: it is not open */
	void *ended[HODO_ELF_ENDED_MAX]; /* sections with a byte appended that ends their last text */
	struct hodo_elf_unit_range *ranges; /* by start */
	uint32_t n;
};

/*
 * Opens the file that has an object's debug information (struct hodo_elf_object: lines), if it has that build-id
 * (len 0: any). 0; -ESTALE: another build-id; -EBADMSG: damaged; -ENOMEM; what open(2) gives. After an error it is
 * closed.
 */
int hodo_elf_dwarf_open(struct hodo_elf_dwarf *d, const char *path, const uint8_t *build_id, size_t len);
void hodo_elf_dwarf_close(struct hodo_elf_dwarf *d); /* may be called twice, or if it is all zero */

/* The i-th unit, from 0, that covers the address. False: there are fewer. */
bool hodo_elf_dwarf_unit(const struct hodo_elf_dwarf *d, uint64_t address, unsigned i, Dwarf_Die *unit);

/*
 * The children of an entry, one after the other; ends even in a damaged file.
 *
 *	for (struct hodo_elf_child c = { 0 }; hodo_elf_child_next(&c, &parent);)
 *		use(&c.die);
 */
struct hodo_elf_child {
	Dwarf_Die die;
	Dwarf_Off at; /* 0: none yet */
};
bool hodo_elf_child_next(struct hodo_elf_child *c, Dwarf_Die *parent);
