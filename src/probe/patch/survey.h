/* SPDX-License-Identifier: MIT */
/* survey.h - counts where an object can have probes: plans all entries and exits together. */
#ifndef HODO_PROBE_PATCH_SURVEY_H
#define HODO_PROBE_PATCH_SURVEY_H

#include <probe/code/object.h>

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
/* The same for a file. 0; -EOPNOTSUPP: refused entirely, *why; -ENOEXEC: not ELF; errors of open(2) and
 * hodo_probe_object_open(). */
int hodo_probe_survey_file(struct hodo_probe_survey *s, const char *path, enum hodo_probe_reason *why);

#endif
