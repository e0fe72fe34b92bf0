/* SPDX-License-Identifier: MIT */
/* sites.h - the places of events (HODO_MARK and the like) in an executable or library, as its file has them. */
#ifndef HODO_ELF_SITES_H
#define HODO_ELF_SITES_H

#include <hodo/abi.h>

#include "file.h"

/* The texts of a descriptor, in their order. The last is "" where it is not HODO_DESC_LABELLED. */
enum { HODO_ELF_PROVIDER, HODO_ELF_EVENT, HODO_ELF_FIELDS, HODO_ELF_FORMAT, HODO_ELF_SOURCE, HODO_ELF_FUNCTION,
       HODO_ELF_LABELS, HODO_ELF_TEXTS };

/*
 * Takes a descriptor that so many sites have: whole, and its texts end within it; nothing else is checked. It
 * is each's if it returns 0, to be freed. -EBADMSG: it is of no use, and is counted; another errno ends it all.
 */
typedef int (*hodo_elf_site_fn)(void *arg, struct hodo_desc *desc, const char *const text[HODO_ELF_TEXTS],
				uint32_t sites);

/* Descriptors that cannot be used. */
struct hodo_elf_useless {
	unsigned damaged;
	unsigned foreign; /* made by headers of another version */
	uint8_t version;  /* of the last one of those */
};

/* Calls each for every descriptor, by address. 0; -EIO; -ENOMEM; what each returned. */
int hodo_elf_sites(const struct hodo_elf *e, hodo_elf_site_fn each, void *arg, struct hodo_elf_useless *useless);

#endif
