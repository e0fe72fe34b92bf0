/* SPDX-License-Identifier: MIT */
/* doctor.h - the checks of hodo doctor, each of which says what it found. */
#ifndef HODO_CLI_DOCTOR_H
#define HODO_CLI_DOCTOR_H

#include <limits.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD };

struct doctor_finding {
	enum doctor_state state;
	char text[PATH_MAX + 128];
	const char *hint; /* NULL if there is nothing to repair */
};

/* A list ends with { 0 }. */
struct doctor_check {
	const char *name;
	void (*run)(struct doctor_finding *f);
};

/* hint: what to do about it; not looked at where the state is DOCTOR_OK. */
void doctor_found(struct doctor_finding *f, enum doctor_state state, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

extern const struct doctor_check doctor_machine_checks[]; /* doctor_machine.c: kernel, processor, memory, processes */

#endif
