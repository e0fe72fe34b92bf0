/* SPDX-License-Identifier: MIT */
/*
 * planner.h - makes plans (hodo/abi_plan.h) for the processes of a recording: for selected functions that have no
 * slots, for probes, and for replacements.
 *
 * One plan at a time, in any thread; meanwhile only hodo_planner_still() may be called.
 */
#pragma once

#include <base/why.h>
#include <hodo/abi_plan.h>

#include "files.h"
#include "probes.h"
#include "replace.h"

/* All zero but for what the caller sets, up to the empty line. */
struct hodo_planner {
	const struct hodo_pattern_list *functions; /* the caller's */
	bool traces;                    /* calls of functions are recorded */
	bool fixed;                     /* no probes are added or removed */
	bool quiet;                     /* only warnings */
	struct hodo_pattern_list *sdt;  /* static probes: PROVIDER:NAME */
	struct hodo_planner_probes *probes;
	struct hodo_planner_replacements *replacements;
	const struct hodo_pattern_list *arguments; /* functions whose arguments and results are wanted, too */
	uint64_t min_bytes; /* of a function */
	pid_t command;      /* 0: none. In other started processes, only functions whose pattern names the file */
	struct hodo_reporter reporter;

	struct hodo_plan_files files;
	uint32_t changes; /* of probes */
	bool said_traps, said_missed; /* report.h */
	uint32_t sites; /* static probes of planned files that need none, as they are Hodoscope's own sites */
	uint64_t seen; /* functions in files that may contain selected ones */
};

/* What a plan must cover. */
struct hodo_plan_request {
	pid_t pid;
	bool came;  /* it was already running */
	uint32_t n; /* of `object`, the only ones for the plan; 0: everything that the process has mapped */
	struct hodo_plan_object object[HODO_PLAN_OBJECTS_MAX];
	bool starts; /* it has just been started: it loads libraries later */
	bool loads;  /* it can be asked to load libraries first */
	char load[HODO_PLAN_LOAD_MAX]; /* out, with -ELIBACC: which ones, each followed by a newline */
};

/* The plan's descriptor; or a negative errno, and the user has been told if necessary; -ELIBACC: libraries must be
 * loaded first. */
int hodo_planner_plan(struct hodo_planner *p, struct hodo_plan_request *request);
/* Switches on the always-on windows of the plan in a process, whose threads are stopped meanwhile. 0, or negative
 * errno, and the user has been told. */
int hodo_planner_still(const struct hodo_planner *p, pid_t pid, int pidfd, int plan);
void hodo_planner_free(struct hodo_planner *p);

/*
 * A running recording's probes, probe:PLACE or sdt:PROVIDER:NAME: from then on they are like those that it began with.
 * 0; -EOPNOTSUPP: this planner's cannot change; -EEXIST, -ENOENT; -EINVAL: no such text; -ENOMEM.
 */
int hodo_planner_add_probe(struct hodo_planner *p, const char *text);
int hodo_planner_remove_probe(struct hodo_planner *p, const char *text);
int hodo_planner_name_probe(const struct hodo_planner *p, uint32_t i, char *name, size_t size); /* of the i-th */
