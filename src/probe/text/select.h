/* SPDX-License-Identifier: MIT */
/*
 * select.h - which functions of a file are selected: GLOB, SOURCE:GLOB, FILE!GLOB, FILE!SOURCE:GLOB, and
 * exclusions with ! in front.
 */
#pragma once

#include <probe/code/object.h>

struct hodo_probe_choice {
	const char *const *patterns; /* none, or only exclusions: all functions */
	uint32_t npatterns;
	const char *path, *soname; /* the file's; soname: "" if it has none */
	bool by_default;    /* patterns without a file apply to it, too */
	uint64_t min_bytes; /* of a function */
	/* Functions with slots are left out, unless they are selected and also match one of these. */
	const char *const *in_slots;
	uint32_t nin_slots; /* 0: none */
	/* Or unless they are selected, and one of these is their entry or in a slot: a probe replaces code there. */
	const uint64_t *probed; /* sorted; NULL: none */
	uint32_t nprobed;
	/* If a pattern names a source file, functions with slots are selected here too: the process cannot do it. */
	bool has_slots;     /* the file has such functions */
	uint32_t *slotted;  /* out: indexes of the selected ones, which are not in the list; the caller frees it */
	uint32_t nslotted;
	uint32_t fixed; /* out: how many of these have slots that cannot be turned off */
	bool sourceless; /* out: a pattern names a source, but the functions' sources are not known */
};

/* Whether any of the file's functions can be selected for patching. */
bool hodo_probe_choice_wants_functions(const struct hodo_probe_choice *choice);
/* Whether some pattern names a source; and whether functions with slots can be selected by it. */
bool hodo_probe_choice_by_source(const struct hodo_probe_choice *choice);
bool hodo_probe_choice_wants_slots(const struct hodo_probe_choice *choice);
/*
 * Indexes of the selected functions, including their moved parts. path: to find the file's symbols or its
 * debug file. 0 or -ENOMEM; the caller frees *list.
 */
int hodo_probe_select(struct hodo_probe_choice *choice, const struct hodo_probe_object *o, const char *path,
		      uint32_t **list, uint32_t *n);
