/* SPDX-License-Identifier: MIT */
/* near.h - for the readers of slots: places that near calls reach, and what an object's tables in memory say. */
#ifndef HODO_FUNC_NEAR_H
#define HODO_FUNC_NEAR_H

#include "func.h"

/* near.c; under the control lock */

/* A stub that jumps to hodo_func_hooks[hook], which a near call from anywhere in text … end reaches; 0: none to be
 * had. It stays for ever. */
HODO_HIDDEN uintptr_t hodo_near_stub(uintptr_t text, uintptr_t end, enum hodo_hook hook);
/* Whether near calls from all of text … end reach the target. */
HODO_HIDDEN bool hodo_near_reaches(uintptr_t text, uintptr_t end, uintptr_t target);
/* Zeroed memory exactly there, writable until it is sealed: then read and execute. bytes: whole pages. */
HODO_HIDDEN bool hodo_near_map(uintptr_t at, size_t bytes);
HODO_HIDDEN bool hodo_near_seal(uintptr_t at, size_t bytes);

/* arch/x86_64/instrument.S */
#define HODO_NEAR_STUB_BYTES 16u
extern HODO_HIDDEN const uint8_t hodo_x86_near[]; /* by enum hodo_hook, HODO_NEAR_STUB_BYTES each */

/* dynamic.c; of the object being looked at (hodo_objects_room) */

struct hodo_dynamic {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	uint32_t nsymbols; /* of those that the object does not define, at least */
	const char *strings;
	size_t strings_bytes;
	struct {
		const ElfW(Rela) *entry;
		size_t n;
	} relocations[2]; /* DT_RELA, DT_JMPREL */
};
HODO_HIDDEN bool hodo_dynamic_read(const struct dl_phdr_info *info, struct hodo_dynamic *d);
/* Index of the symbol of that name that the object refers to and does not define; 0: none. */
HODO_HIDDEN uint32_t hodo_dynamic_import(const struct hodo_dynamic *d, const char *name);

/* First addresses of functions, from the table that unwinders search (.eh_frame_hdr). */
struct hodo_starts {
	uintptr_t origin;
	const int32_t (*entry)[2];
	uint32_t n;
};
HODO_HIDDEN void hodo_starts_read(const struct dl_phdr_info *info, struct hodo_starts *starts);
/* The last one at or before addr, 0: none. *next: the one after it, or ~0. */
HODO_HIDDEN uintptr_t hodo_starts_find(const struct hodo_starts *starts, uintptr_t addr, uintptr_t *next);

/* imports.c: calls of functions that the object imports from libhodo */

struct hodo_import {
	const char *name;
	uintptr_t own; /* libhodo's function of that name, also where it is linked into the object itself */
	uint8_t kind;  /* enum hodo_slot_kind */
	uint8_t at;    /* enum hodo_slot_at */
	bool always;   /* they stay calls */
};
#define HODO_IMPORTS_MAX 4
/* Whether the object refers to any of them, or holds libhodo itself. */
HODO_HIDDEN bool hodo_imports_any(const struct hodo_dynamic *d, const struct hodo_import *imports, unsigned n);
/* Adds all slots that call them. */
HODO_HIDDEN void hodo_imports_scan(struct hodo_scan *scan, const struct hodo_dynamic *d,
				   const struct hodo_import *imports, unsigned n);
/* Where a reference to the name leads (next: behind libhodo), as the loader resolved it at the start; 0: nowhere. */
HODO_HIDDEN void hodo_imports_init(void);
HODO_HIDDEN uintptr_t hodo_imports_resolve(const char *name, bool next);
/* Whether behind libhodo there is another function of that name than libc's. */
HODO_HIDDEN bool hodo_imports_foreign(const char *name);

/* entry_only.c: of each object, the first time: -pg, which nobody may have asked us to look for. */
HODO_HIDDEN void hodo_mcount_look(const struct hodo_dynamic *d);

#endif
