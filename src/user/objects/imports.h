/* SPDX-License-Identifier: MIT */
/* imports.h - slots that call a function which the object imports from libhodo. Under the control lock, in a scan. */
#pragma once

#include <link.h>
#include <user/user.h>

/* What the tables of the current object (hodo_objects_room) say. */
struct hodo_dynamic {
	uintptr_t base;
	const ElfW(Sym) *symbols;
	uint32_t nsymbols; /* at least those that the object does not define */
	const char *strings;
	size_t strings_bytes;
	struct {
		const ElfW(Rela) *entry;
		size_t n;
	} relocations[2]; /* DT_RELA, DT_JMPREL */
	uintptr_t got; /* DT_PLTGOT */
};
HODO_SHARED struct hodo_dynamic hodo_dynamic_read(const struct dl_phdr_info *info);
/* Index of the undefined symbol with that name; 0: none. */
HODO_SHARED uint32_t hodo_dynamic_import(const struct hodo_dynamic *d, const char *name);

struct hodo_import {
	const char *name; /* NULL: only own is called, and only by calls */
	uintptr_t own; /* libhodo's function with that name, even if it is linked into the object itself */
	bool exit;     /* it is called at the exit of functions */
};
#define HODO_IMPORTS_MAX 4

struct hodo_import_slot {
	uintptr_t addr;
	const struct hodo_import *import;
	uint8_t on, off; /* its first byte: a call, and none; the same: what is called by a register, and stays so */
};
struct hodo_import_user {
	bool (*found)(void *data, const struct hodo_import_slot *slot); /* false: ends the search */
	void *data;
	bool registers; /* search for calls through a register, too */
};

/* Whether the object refers to any of them, or holds libhodo itself. */
HODO_SHARED bool hodo_imports_any(const struct hodo_dynamic *d, const struct hodo_import *imports, unsigned n);
/* Finds all slots that call them, or were made no_ops. */
HODO_SHARED void hodo_imports_scan(const struct dl_phdr_info *info, const struct hodo_dynamic *d,
				   const struct hodo_import *imports, unsigned n, bool no_ops,
				   const struct hodo_import_user *user);
/* Finds where the names of hodo_interposed lead. In the constructor, if there is dlsym(). */
HODO_HIDDEN void hodo_imports_places(void);
/* Fills in the stubs of the current object, which gcc's slots call; false: the note is not valid. */
HODO_SHARED bool hodo_imports_stubs(const struct hodo_note_functions *note, struct hodo_import imports[2]);
/* Fills in those of -finstrument-functions; false: their calls do not lead to libhodo, and stay as they are. */
HODO_SHARED bool hodo_imports_instrument(struct hodo_import imports[2]);
