/* SPDX-License-Identifier: MIT */
/* planner.h - plans (hodo/abi_plan.h) for processes with selected functions that have no slots. */
#ifndef HODO_CLI_PLAN_PLANNER_H
#define HODO_CLI_PLAN_PLANNER_H

#include <record/record.h>

#include "files.h"
#include "probes.h"
#include "replace.h"

/* All zero but for what the caller sets. */
struct hodo_planner {
	const struct hodo_functions *functions; /* the caller's */
	struct hodo_pattern_list *sdt; /* static probes: PROVIDER:NAME */
	struct hodo_record_probes *probes;
	struct hodo_record_replacements *replacements;
	const struct hodo_pattern_list *arguments; /* functions whose arguments and results are wanted, too */
	uint64_t min_bytes; /* of a function */
	pid_t command;      /* 0: none. In other started processes, only functions whose pattern names the file */
	struct hodo_plan_files files;
	bool said_traps, said_missed; /* traps.h */
	bool quiet; /* only warnings */
	uint32_t sites; /* static probes of planned files that need none, as they are Hodoscope's own sites */
	uint64_t seen; /* functions in files that may contain selected ones */
};

/* For struct hodo_recorder_config: arg is a struct hodo_planner. */
int hodo_planner_plan(void *arg, struct hodo_plan_request *request);
/* Likewise: as plan_still. */
int hodo_planner_still(void *arg, pid_t pid, int pidfd, int plan);
/* Likewise: as probe. record_live.c. */
int hodo_planner_probe(void *arg, enum hodo_control_op op, const char *text, uint32_t next, char *found, size_t size);
void hodo_planner_free(struct hodo_planner *p);

#endif
