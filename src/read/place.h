/* SPDX-License-Identifier: MIT */
/* place.h - what is known of an address of a function. Who finds that out is above this module: export/symbols.h. */
#ifndef HODO_READ_PLACE_H
#define HODO_READ_PLACE_H

#include <hodo/read.h>
#include <string.h>

struct hodo_place {
	/* Demangled; "0x…" without a name, "0x?" for all in an object beyond the first 262,144 of these.
	 * Valid as long as the hodo_symbols. */
	const char *name;
	const char *full; /* name, or its full form after hodo_symbols_shorten() */
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

/* How to find places. All NULL: nobody knows any. */
struct hodo_places {
	void *data;
	/* Always fills place. */
	void (*find)(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address,
		     struct hodo_place *place);
	/* As in struct hodo_read_calls_ops. */
	bool (*same)(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b);
};

#endif
