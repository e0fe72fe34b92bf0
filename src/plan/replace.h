/* SPDX-License-Identifier: MIT */
/*
 * replace.h - functions that are replaced by others while a recording runs: hodo record --replace
 * F=LIB:G, as successive plans find them in files.
 */
#pragma once

#include <base/why.h>
#include <hodo/abi_plan.h>
#include <probe/patch/build.h>
#include <probe/value/image.h>
#include <probe/text/spec.h>

#include "process_files.h"

struct hodo_planner_replacement {
	char *text;      /* F=LIB:G */
	char *name;      /* OTHER, and its name in messages */
	struct hodo_spec spec; /* of FUNCTION */
	char *library;   /* its real path */
	dev_t dev;
	ino_t inode;
	uint64_t to, original; /* addresses in the library's file; original 0: it has no such pointer */
	struct hodo_code_segments segments;
	bool found;      /* some process has it */
	bool said;       /* its problems were reported */
	char *why;       /* why it was not found; NULL: not searched */
	/* For the present plan: */
	bool taken;      /* the process has the function, in an examined file */
	bool loaded;     /* it has the library */
	uint64_t bias;   /* of the library in the process */
	uint32_t copies; /* of the function, which are not replaced */
};

/* All zero: none. */
struct hodo_planner_replacements {
	struct hodo_planner_replacement *list;
	uint32_t n;
};

/* 0; -EINVAL: the text or its library is wrong; -ENOMEM, without a reason; or why the library cannot be read. */
int hodo_planner_replacements_add(struct hodo_planner_replacements *r, const char *text, struct hodo_why *why);
void hodo_planner_replacements_free(struct hodo_planner_replacements *r);

/* Of one plan, in this order. */
void hodo_planner_replacements_begin(struct hodo_planner_replacements *r);
/* Each file that the process has mapped: whether it is one of the libraries. */
void hodo_planner_replacements_find_library(struct hodo_planner_replacements *r,
					    const struct hodo_process_file *mapped);
/* Whether some function may be in the file. */
bool hodo_planner_replacements_may_be_in(const struct hodo_planner_replacements *r,
					 const struct hodo_process_file *mapped, const char *soname);
/* Adds those in a file, but in no earlier one, to the target, once their libraries are loaded. image NULL:
 * `flaw` says why nothing can be found in it. 0 or -ENOMEM. */
int hodo_planner_replacements_resolve(struct hodo_planner_replacements *r, const struct hodo_process_file *mapped,
				      const char *soname, const struct hodo_probe_image *image, const char *flaw,
				      struct hodo_probe_target *t);
/* The libraries that the process must load, for struct hodo_plan_request. Returns whether there are any. */
bool hodo_planner_replacements_libraries(const struct hodo_planner_replacements *r, char load[HODO_PLAN_LOAD_MAX]);
/* After it was built: reports what cannot be replaced, and why; once each. pid: 0: its libraries are not
 * loaded yet. attached: no further files will come. */
void hodo_planner_replacements_report(struct hodo_planner_replacements *r, const struct hodo_probe_target *targets,
				      uint32_t n, pid_t pid, bool attached, const struct hodo_reporter *to);

/* At the end: reports those that were found nowhere. */
void hodo_planner_replacements_report_unfound(struct hodo_planner_replacements *r, const struct hodo_reporter *to);
