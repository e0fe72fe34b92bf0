/* SPDX-License-Identifier: MIT */
/*
 * whole_functions.h - the windows of whole functions: their entries and exits; at most one probe replaces each byte. An
 * exit in the window of the entry, or of another exit, is a hook of that window.
 */
#pragma once

#include "window.h"

struct hodo_probe_planned {
	struct hodo_probe_window window;
	uint32_t function; /* of the object's */
	uint8_t entry;     /* its hook at the entry; 0xff: none */
	uint8_t exits;     /* hooks that are exits, a bit each */
};

#define HODO_PROBE_NO_ENTRY 0xff

struct hodo_probe_plan {
	struct hodo_probe_planned *list; /* by function; those of the kind HODO_PROBE_NONE as well, with the reason */
	uint32_t n;
};

/* Plans a function's entry, its exits, or both, after those already in the plan. 0 or -ENOMEM. */
int hodo_probe_plan_function(struct hodo_probe_plan *p, const struct hodo_probe_object *o, uint32_t function,
			     bool entry, bool exits);
void hodo_probe_plan_free(struct hodo_probe_plan *p);

/* ------------------------------------------------------------------------- counts */

/* Counts: by a jump, by a trap, not at all. */
struct hodo_probe_count {
	uint64_t jump, trap, none;
};

struct hodo_probe_survey {
	uint64_t functions, instructions;
	struct hodo_probe_count entries, exits;
	/* Reasons of those not by a jump. */
	struct hodo_probe_count entry_reason[HODO_PROBE_REASONS], exit_reason[HODO_PROBE_REASONS];
};

/* Plans everything; the object has no windows afterwards. 0 or -ENOMEM. */
int hodo_probe_survey(struct hodo_probe_survey *s, const struct hodo_probe_object *o);
/* hodo_probe_survey() of a file. 0; -EOPNOTSUPP: refused entirely, *why; -ENOEXEC: not ELF; errors of open(2) and
 * hodo_probe_object_open(). */
int hodo_probe_survey_file(struct hodo_probe_survey *s, const char *path, enum hodo_probe_reason *why);
