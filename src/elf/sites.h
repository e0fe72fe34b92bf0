/* SPDX-License-Identifier: MIT */
/* sites.h - the places of events (HODO_MARK and the like) in the file of an executable or library. */
#pragma once

#include <hodo/abi.h>

#include "file.h"

/* The texts of a descriptor, in order. The last is "" unless it is HODO_DESC_LABELLED. */
enum { HODO_ELF_PROVIDER, HODO_ELF_EVENT, HODO_ELF_FIELDS, HODO_ELF_FORMAT, HODO_ELF_SOURCE, HODO_ELF_FUNCTION,
       HODO_ELF_LABELS, HODO_ELF_TEXTS };

/*
 * Takes a descriptor with that many sites: it is complete, and its texts end within it; nothing else is
 * checked. If each returns 0, it owns the descriptor and frees it. -EBADMSG: useless, counted; another errno
 * ends the walk.
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

/* The sites themselves, by address, with the address of their descriptor; first, by descriptor, those without. */
struct hodo_elf_site_places {
	struct hodo_elf_site_place {
		uint64_t addr; /* 0: code that looks whether the event is on, as compilers make it with -O0 */
		uint64_t desc;
	} *list;
	uint32_t n;
};

/* All zero before. 0 or -ENOMEM; free p->list in any case. */
int hodo_elf_sites_find(struct hodo_elf_site_places *p, const struct hodo_elf *e);
/* A site's descriptor, which the caller frees, with its texts. NULL: libhodo cannot use it; or no memory. */
struct hodo_desc *hodo_elf_site_desc(const struct hodo_elf *e, uint64_t addr, const char *text[HODO_ELF_TEXTS]);
