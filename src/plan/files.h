/* SPDX-License-Identifier: MIT */
/*
 * files.h - files of processes that are planned, each examined once for a recording: it is the same file if device,
 * inode, size and times are. What decoding them takes is also kept for the next recording (cache.h).
 */
#pragma once

#include <probe/patch/build.h>
#include <probe/value/image.h>
#include <probe/code/object.h>

#include "process_files.h"

/* What was planned for a process, for the next one that has the file. */
struct hodo_plan_kept {
	struct hodo_probe_target target; /* object NULL: nothing is kept */
	char *path;       /* of the file, as that process sees it */
	bool by_default;  /* its functions were selected by default */
	uint32_t changes; /* the planner's, of its probes */
};

struct hodo_plan_file {
	struct stat stat;
	bool decoded;
	struct hodo_probe_object *object; /* NULL: refused */
	char *path; /* of the image */
	struct hodo_probe_image *image; /* NULL: not opened */
	bool slots_known, slots; /* it has functions built with slots */
	bool calls_known, calls; /* it may have system calls that libhodo must see */
	bool landings_known;
	unsigned landings; /* HODO_PROBE_LANDS_* */
	bool by_default; /* its functions were selected by default in some process */
	bool said;       /* why it is refused */
	bool said_sources; /* that it has no debug information */
	char *soname;    /* NULL: not looked at */
	bool seen;       /* in planner->seen */
	enum hodo_probe_reason why;
	int err;
	uint64_t entry; /* of a program */
	struct hodo_code_segments segments;
	struct hodo_plan_kept kept;
};

/* All zero: none. */
struct hodo_plan_files {
	struct hodo_plan_file **list;
	uint32_t n;
	bool asked; /* for a cache, */
	int cache;  /* which is this; negative: none */
	uint32_t decoded, loaded; /* files: each is decoded once, or never, as the cache has it */
	uint32_t resolved, moved; /* targets: what is wanted of a file was looked for, or known from before */
};

/* NULL: no memory. */
struct hodo_plan_file *hodo_plan_files_get(struct hodo_plan_files *p, const struct stat *st);
void hodo_plan_files_free(struct hodo_plan_files *p);

/* Each looks at the file once. */
bool hodo_plan_file_has_slots(struct hodo_plan_file *f, const char *path);
bool hodo_plan_file_may_call(struct hodo_plan_file *f, const char *path);
/* HODO_PROBE_LANDS_*, of functions by which calls are left. */
unsigned hodo_plan_file_landings(struct hodo_plan_file *f, const char *path);
const char *hodo_plan_file_soname(struct hodo_plan_file *f, const char *path); /* "": none */
/* rights: those of the process; the cache is read and written with our own. 0, or a negative errno: nobody's. */
int hodo_plan_file_decode(struct hodo_plan_files *p, struct hodo_plan_file *f, const char *path,
			  struct hodo_rights *rights);
/* For probes' texts. 0, -ENOMEM, or why it cannot be read. */
int hodo_plan_file_image(struct hodo_plan_file *f, const char *path);

/* Frees what a target has, except for its object, and what it would be called by. */
void hodo_plan_kept_free(struct hodo_plan_kept *k);
