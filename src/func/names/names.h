/* SPDX-License-Identifier: MIT */
/* names.h - names of functions, from the symbols of loaded objects' files. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <user/user.h>

/* sort.c: by their first words, as numbers; stable. words: per item. false: no memory. */
HODO_HIDDEN bool hodo_sort(void *items, uint32_t n, size_t words);

/* maps.c: a mapping of this process. */
struct hodo_mapping {
	uintptr_t low, high;
	uintptr_t below; /* where the one before it ends */
	uintptr_t file;  /* where the first page of its file is mapped, at or below this address; 0: nowhere */
};
/* The mapping that contains the address; false: none. path: of its file, cut to size; size 0: not wanted. */
HODO_HIDDEN bool hodo_maps_find(uintptr_t addr, struct hodo_mapping *found, char *path, size_t size);

/*
 * names.c: function symbols of an object's file, or of its separate debug
 * file, in our own memory while it is open. For one thread at a time.
 */
struct hodo_names;
HODO_HIDDEN struct hodo_names *hodo_names_open(const struct dl_phdr_info *info, const char *path); /* NULL: none */
HODO_HIDDEN void hodo_names_close(struct hodo_names *names);
/* The symbol that contains the address, or "". *start: its first address. */
HODO_HIDDEN const char *hodo_names_find(const struct hodo_names *names, uintptr_t addr, uintptr_t *start);
/* How many names the function around the address has, and the i-th of them, from 0; the name that is shown
 * comes first. */
HODO_HIDDEN uint32_t hodo_names_count(const struct hodo_names *names, uintptr_t addr);
HODO_HIDDEN const char *hodo_names_other(const struct hodo_names *names, uintptr_t addr, uint32_t i);
/* The memory of the section with that name ("xray_instr_map"), 0 if no such section is loaded. */
HODO_HIDDEN uintptr_t hodo_names_section(const struct hodo_names *names, const char *section, size_t *size);
/* Address of the function with that name, or 0. */
HODO_HIDDEN uintptr_t hodo_names_symbol(const struct hodo_names *names, const char *symbol);
/* function_name.c */
HODO_HIDDEN int hodo_names_function(const void *address, char *name, size_t bytes); /* hodo_function_name() */
/* Objects were unloaded; others may be at their addresses now. */
HODO_HIDDEN void hodo_names_changed(void);
