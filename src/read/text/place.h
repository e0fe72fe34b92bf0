/* SPDX-License-Identifier: MIT */
/*
 * place.h - what is known of an address of a function. Who finds that out is above this module:
 * sym/recording_symbols.h.
 */
#pragma once

#include <hodo/read.h>
#include <stdbool.h>

struct hodo_place {
	/*
	 * Demangled. Of an address without a symbol: the object's file name and the address in it, as
	 * "libz.so.1+0x2f40", which is the same in each process; outside of files "0x…"; "0x?" beyond the first
	 * 262,144 of these. Valid as long as the hodo_symbols.
	 */
	const char *name;
	const char *full; /* name, or its full form after hodo_symbols_shorten() */
	const char *object; /* path, "" if none is known there */
	const struct hodo_read_object *mapped; /* NULL: none is known */
	uint64_t start;     /* address of the function in the process; the address asked for if it has no symbol; of
			     * "0x?" the object's base */
	bool named;         /* by a symbol */
	bool in_file;       /* not named, but by its object and offset */
	uint64_t id;        /* the same for the same function of the same object, also in other processes; never 0 */
};

/* How to find places. All NULL: nobody knows any. */
struct hodo_places {
	void *data;
	/* Always fills place. */
	void (*find)(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address,
		     struct hodo_place *place);
	/* As in struct hodo_read_calls_ops. */
	bool (*same)(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b);
};
