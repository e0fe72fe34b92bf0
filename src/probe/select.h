/* SPDX-License-Identifier: MIT */
/*
 * select.h - which functions of a file somebody asks for: GLOB, SOURCE:GLOB, FILE!GLOB, FILE!SOURCE:GLOB, and with !
 * in front what is left out.
 */
#ifndef HODO_PROBE_SELECT_H
#define HODO_PROBE_SELECT_H

#include "object.h"

struct hodo_probe_choice {
	const char *const *patterns; /* none, or only such as leave out: all functions */
	uint32_t npatterns;
	const char *path, *soname; /* the file's; soname: "" if it has none */
	bool by_default;    /* patterns that name no file mean it, too */
	uint64_t min_bytes; /* of a function */
	/* Functions with slots are left to these, but those that are meant and match one of these, too. */
	const char *const *in_slots;
	uint32_t nin_slots; /* 0: none */
	uint32_t fixed; /* out: so many of these have slots that cannot be turned off */
	bool sourceless; /* out: a pattern names a source, and nothing says of which the functions are */
};

/* Whether any of the file's can be meant. */
bool hodo_probe_select_means(const struct hodo_probe_choice *choice);
/*
 * Indexes of the functions that are meant, parts that were moved away from them among these. path: where the file's
 * symbols, or the way to its debug file, are found. 0 or -ENOMEM; the caller frees *list.
 */
int hodo_probe_select(struct hodo_probe_choice *choice, const struct hodo_probe_object *o, const char *path,
		      uint32_t **list, uint32_t *n);

#endif
