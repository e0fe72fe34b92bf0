/* SPDX-License-Identifier: MIT */
/*
 * replace.h - functions that are replaced by others while a recording runs: hodo record --replace
 * F=LIB:G, as successive plans find them in files.
 */
#ifndef HODO_CLI_PLAN_REPLACE_H
#define HODO_CLI_PLAN_REPLACE_H

#include <probe/patch/build.h>
#include <probe/value/image.h>
#include <probe/text/spec.h>
#include <record/record.h>

#include "process_files.h"

struct hodo_record_replacement {
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
/* Adds those in a file, but in no earlier one, to the target, once their libraries are loaded. image NULL:
 * `flaw` says why nothing can be found in it. 0 or -ENOMEM. */
int hodo_record_replacements_take(struct hodo_record_replacements *r, const struct hodo_process_file *mapped,
				  const char *soname, const struct hodo_probe_image *image, const char *flaw,
				  struct hodo_probe_target *t);
/* The libraries that the process must load, for struct hodo_plan_request. Returns whether there are any. */
bool hodo_record_replacements_load(const struct hodo_record_replacements *r, char load[HODO_PLAN_LOAD_MAX]);
/* After it was built: reports what cannot be replaced, and why; once each. pid: 0: its libraries are not
 * loaded yet. attached: no further files will come. */
void hodo_record_replacements_look(struct hodo_record_replacements *r, const struct hodo_probe_target *targets,
				   uint32_t n, pid_t pid, bool attached);

/* At the end: reports those that were found nowhere. */
void hodo_record_replacements_end(struct hodo_record_replacements *r);

#endif
