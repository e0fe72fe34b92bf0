/* SPDX-License-Identifier: MIT */
/*
 * record_replace.h - functions in whose place others are called while a recording runs: hodo record --replace
 * F=LIB:G, as one plan after the other finds them in files.
 */
#ifndef HODO_CLI_RECORD_REPLACE_H
#define HODO_CLI_RECORD_REPLACE_H

#include <probe/build.h>
#include <probe/image.h>
#include <probe/spec.h>
#include <record/record.h>

#include "process_files.h"

struct hodo_record_replacement {
	char *text;      /* F=LIB:G */
	char *name;      /* OTHER, and what it is called in messages */
	struct hodo_spec spec; /* of FUNCTION */
	char *library;   /* its real path */
	dev_t dev;
	ino_t inode;
	uint64_t to, original; /* addresses in the library's file; original 0: it has no such pointer */
	struct hodo_code_segments segments;
	bool found;      /* some process has it */
	bool said;       /* what is to be said of it */
	char *why;       /* it was not found where it was looked for; NULL: it was not looked for */
	/* of the plan that is being made */
	bool taken;      /* the process has the function, in a file that was looked at */
	bool loaded;     /* it has the library, … */
	uint64_t bias;   /* … there */
	uint32_t copies; /* of the function, which are not replaced */
};

/* All zero: none. */
struct hodo_record_replacements {
	struct hodo_record_replacement *list;
	uint32_t n;
};

/* 0, or the exit status, having said what is wrong. */
int hodo_record_replacements_add(struct hodo_record_replacements *r, const char *text);
void hodo_record_replacements_free(struct hodo_record_replacements *r);

/* Of one plan, in this order. */
void hodo_record_replacements_begin(struct hodo_record_replacements *r);
/* Each file that the process has mapped: whether it is one of the libraries. */
void hodo_record_replacements_see(struct hodo_record_replacements *r, const struct hodo_process_file *mapped);
/* Whether some function may be in the file. */
bool hodo_record_replacements_mean(const struct hodo_record_replacements *r, const struct hodo_process_file *mapped,
				   const char *soname);
/* Adds those that are in a file, and in none before, to the target, once their libraries are there. image NULL: `flaw`
 * says why nothing can be in it. 0 or -ENOMEM. */
int hodo_record_replacements_take(struct hodo_record_replacements *r, const struct hodo_process_file *mapped,
				  const char *soname, const struct hodo_probe_image *image, const char *flaw,
				  struct hodo_probe_target *t);
/* The libraries that the process is to load, as struct hodo_plan_request has it. Whether there are some. */
bool hodo_record_replacements_load(const struct hodo_record_replacements *r, char load[HODO_PLAN_LOAD_MAX]);
/* After it was built: what cannot be replaced, and why; once each. pid: 0: its libraries are to be loaded yet.
 * attached: nothing further is to come. */
void hodo_record_replacements_look(struct hodo_record_replacements *r, const struct hodo_probe_target *targets,
				   uint32_t n, pid_t pid, bool attached);

/* At the end: those that were found nowhere. */
void hodo_record_replacements_end(struct hodo_record_replacements *r);

#endif
