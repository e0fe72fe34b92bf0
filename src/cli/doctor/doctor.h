/* SPDX-License-Identifier: MIT */
/* doctor.h - the checks of hodo doctor, each of which says what it found. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD };

struct doctor_finding {
	const char *name; /* of the check */
	pid_t pid;        /* the process to examine; 0: the machine */
	enum doctor_state state;
	char text[2 * PATH_MAX + 128];
	const char *hint; /* NULL if there is nothing to repair */
};

/* A list ends with { 0 }. */
struct doctor_check {
	const char *name;
	void (*run)(struct doctor_finding *f);
};

/* repair: what to do about it, or NULL; then format and arguments of the text. */
#define doctor_found(f, what, repair, ...)                                                                             \
	((f)->state = (what), (f)->hint = (repair), snprintf((f)->text, sizeof((f)->text), __VA_ARGS__))

extern const struct doctor_check doctor_process_checks[]; /* doctor_flight.c: a process that runs */
void doctor_check_flight(struct doctor_finding *f); /* doctor_flight.c: HODO_FLIGHT in our environment */
void doctor_check_uprobes(struct doctor_finding *f); /* doctor_uprobes.c: whether they leave programs intact */
extern const struct doctor_check doctor_machine_checks[]; /* doctor_machine.c: kernel, processor, memory, processes */

/* doctor_probes.c: which functions of files could have probes. All zero at first. */
struct doctor_probes {
	struct doctor_object *list;
	size_t n;
};
struct hodo_page;
int doctor_probes_file(struct doctor_probes *p, const char *path); /* HODO_GO_ON, or the exit status having said why */
void doctor_probes_process(struct doctor_probes *p, pid_t pid);    /* all code that it has mapped */
void doctor_probes_put(struct doctor_probes *p, struct hodo_page *page, bool json);
void doctor_probes_free(struct doctor_probes *p);
