/* SPDX-License-Identifier: MIT */
/* survey.h - what of an object could have probes: all entries and exits, planned together, and counted. */
#ifndef HODO_PROBE_SURVEY_H
#define HODO_PROBE_SURVEY_H

#include "object.h"

/* By a jump, by a trap, not at all. */
struct hodo_probe_count {
	uint64_t jump, trap, none;
};

struct hodo_probe_survey {
	uint64_t functions, instructions;
	struct hodo_probe_count entries, exits;
	/* Those that are not by a jump: why. */
	struct hodo_probe_count entry_reason[HODO_PROBE_REASONS], exit_reason[HODO_PROBE_REASONS];
};

/* Plans everything; the object has no windows of its own afterwards. 0 or -ENOMEM. */
int hodo_probe_survey(struct hodo_probe_survey *s, const struct hodo_probe_object *o);
/* The same of a file. 0; -EOPNOTSUPP: it is refused as a whole, *why; -ENOEXEC: no ELF file; what open(2) gives; as
 * hodo_probe_object_open(). */
int hodo_probe_survey_file(struct hodo_probe_survey *s, const char *path, enum hodo_probe_reason *why);

#endif
