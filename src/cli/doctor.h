/* SPDX-License-Identifier: MIT */
/* doctor.h - the checks of hodo doctor, each of which says what it found. */
#ifndef HODO_CLI_DOCTOR_H
#define HODO_CLI_DOCTOR_H

#include <limits.h>
#include <stdio.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD };

struct doctor_finding {
	const char *name; /* of the check */
	enum doctor_state state;
	char text[2 * PATH_MAX + 128];
	const char *hint; /* NULL if there is nothing to repair */
};

/* A list ends with { 0 }. */
struct doctor_check {
	const char *name;
	void (*run)(struct doctor_finding *f);
};

/* repair: what to do about it, NULL: nothing; then format and arguments of the text. */
#define doctor_found(f, what, repair, ...)                                                                             \
	((f)->state = (what), (f)->hint = (repair), snprintf((f)->text, sizeof((f)->text), __VA_ARGS__))

extern const struct doctor_check doctor_machine_checks[]; /* doctor_machine.c: kernel, processor, memory, processes */

#endif
