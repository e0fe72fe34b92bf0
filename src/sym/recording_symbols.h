/* SPDX-License-Identifier: MIT */
/*
 * recording_symbols.h - names for the addresses of a recording: finds the object that
 * was mapped there at that time, and its symbols (sym), once each.
 */
#pragma once

#include <limits.h>
#include <read/text/place.h>
#include "sym.h"

struct hodo_symbols;
struct hodo_callers;
struct hodo_debuginfod;
struct hodo_sym_elsewhere;

/* recording: the directory that was opened: symbols kept in it are found there, and files in the store
 * (sym/store.h). NULL: no memory. */
struct hodo_symbols *hodo_symbols_new(const char *recording);
void hodo_symbols_free(struct hodo_symbols *symbols); /* NULL is allowed */
/* Makes names of C++ functions short (core/symbol_name.h), for people. Call it before the first lookup. */
void hodo_symbols_shorten(struct hodo_symbols *symbols);

/* The root directories (O_PATH) of processes that do not have ours: files are looked for there too. They stay the
 * caller's, and must live as long as the symbols. */
void hodo_symbols_roots(struct hodo_symbols *symbols, const int *roots, uint32_t n);

/* What has no name, or no line, here is asked of that client, which is freed with the symbols. */
void hodo_symbols_fetch(struct hodo_symbols *symbols, struct hodo_debuginfod *client);
const struct hodo_sym_elsewhere *hodo_symbols_elsewhere(const struct hodo_symbols *symbols);

/* Never fails: place is always filled. Fast for addresses looked up before. */
void hodo_symbols_find(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, struct hodo_place *place);
/* For timelines; valid as long as the symbols. NULL: nobody knows any. */
struct hodo_places hodo_symbols_places(struct hodo_symbols *symbols);
/* How many addresses had no name, in the i-th object with any addresses; false: there are fewer. */
struct hodo_unnamed {
	const char *path;
	uint64_t n;
	bool has_symbols; /* else the file has none, is not there, or is another build */
	bool has_build_id;
};
bool hodo_symbols_unnamed(const struct hodo_symbols *symbols, uint32_t i, struct hodo_unnamed *unnamed);
/* Only the name. */
const char *hodo_symbols_name_at(struct hodo_symbols *symbols, const struct hodo_read_event *event, uint64_t address);
/* Source file and line of an address; false: not known. */
bool hodo_symbols_line(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, const char **file, uint32_t *line);

/* For hodo_read_symbols(); data is a struct hodo_symbols. NULL if there is nothing better than the address. */
const char *hodo_function_name_at(void *symbols, const struct hodo_read_process *process, int64_t ts_ns,
				  uint64_t address);
/* Whether two addresses lie in one function, as far as that is known. */
bool hodo_function_same(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
			uint64_t a, uint64_t b);
/* Whether a function's name matches the glob: as shown, or in full with or without parameters. */
bool hodo_function_is(const char *glob, const struct hodo_place *place);

/* Narrows a time around ts_ns to that in which the object neither comes nor goes. */
static inline void hodo_object_changes(const struct hodo_read_object *o, int64_t ts_ns, int64_t *from_ns,
				       int64_t *until_ns)
{
	const int64_t changes[2] = { o->from_ns, o->until_ns };

	for (unsigned i = 0; i < 2; i++) {
		if (changes[i] <= ts_ns && changes[i] > *from_ns)
			*from_ns = changes[i];
		if (changes[i] > ts_ns && changes[i] < *until_ns)
			*until_ns = changes[i];
	}
}

/* callers.c: as the members of struct hodo_read_code_ops; data is the hodo_callers. */
struct hodo_callers *hodo_callers_new(struct hodo_symbols *symbols); /* NULL: no memory */
void hodo_callers_free(struct hodo_callers *callers);                /* NULL is allowed */
extern const struct hodo_read_code_ops hodo_callers_ops;

/* Keeps the symbols of all objects with traceable functions, or of all objects if events have context, in the
 * recording, which has just been written: hodo.data/.symbols/BUILDID. 0, or the negative errno of the first
 * that could not be kept; object: its path, "" if it was none of them; NULL: not asked. */
int hodo_symbols_keep(const char *recording, const int *roots, uint32_t nroots, char object[PATH_MAX]);
