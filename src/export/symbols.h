/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - names for the addresses of a recording: finds the object that
 * was mapped there at that time, and its symbols (sym), once each.
 */
#ifndef HODO_EXPORT_SYMBOLS_H
#define HODO_EXPORT_SYMBOLS_H

#include <hodo/read.h>
#include <string.h>
#include <sym/sym.h>

struct hodo_symbols;
struct hodo_callers;

struct hodo_place {
	/* Demangled; "0x…" if it has none, "0x?" for all of an object beyond the first 262,144 of these. Lives as
	 * long as the hodo_symbols. */
	const char *name;
	const char *full; /* name, or the whole of it where hodo_symbols_shorten() was asked for */
	const char *object; /* path, "" if none is known there */
	const struct hodo_read_object *mapped; /* NULL: none is known */
	uint64_t start;     /* address of the function in the process; the address asked for if it has no symbol; of
			     * "0x?" the object's base */
	uint64_t id;        /* the same for the same function of the same object, also in other processes; never 0 */
};

static inline bool hodo_place_named(const struct hodo_place *place)
{
	return strncmp(place->name, "0x", 2) != 0;
}

/* recording: the directory that was opened: symbols kept in it are found there. NULL: no memory. */
struct hodo_symbols *hodo_symbols_new(const char *recording);
void hodo_symbols_free(struct hodo_symbols *symbols); /* NULL is allowed */
/* From now on names of C++ functions are short ones (core/brief_name.h): for people. Before the first is asked for. */
void hodo_symbols_shorten(struct hodo_symbols *symbols);

/* Never fails: place is always filled. Fast for addresses asked for before. */
void hodo_symbols_find(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, struct hodo_place *place);
/* How many addresses had no name, of the i-th object in which there were any addresses; false: there are fewer. */
struct hodo_unnamed {
	const char *path;
	uint64_t n;
	bool has_symbols; /* else the file has none, is not there, or is another build */
};
bool hodo_symbols_unnamed(const struct hodo_symbols *symbols, uint32_t i, struct hodo_unnamed *unnamed);
/* The name alone. */
const char *hodo_symbols_name_at(struct hodo_symbols *symbols, const struct hodo_read_event *event, uint64_t address);
/* Source file and line of an address; false: not known. */
bool hodo_symbols_line(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
		       uint64_t address, const char **file, uint32_t *line);

/* For hodo_read_symbols(); data is a struct hodo_symbols. NULL where there is nothing better than the address. */
const char *hodo_function_name_at(void *symbols, const struct hodo_read_process *process, int64_t ts_ns,
				  uint64_t address);
/* Whether two addresses lie in one function, as far as that is known. */
bool hodo_function_same(struct hodo_symbols *symbols, const struct hodo_read_process *process, int64_t ts_ns,
			uint64_t a, uint64_t b);
/* Whether a function's name is of the glob: as it is shown, or the whole of it with its parameters or without. */
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

/* Keeps the symbols of all objects that have traceable functions in the recording, which has just been
 * written: hodo.data/.symbols/BUILDID; of all objects, where events have context. 0, or negative errno of the first
 * that could not be kept. */
int hodo_symbols_keep(const char *recording);

#endif
