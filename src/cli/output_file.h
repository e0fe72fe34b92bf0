/* SPDX-License-Identifier: MIT */
/*
 * output_file.h - a file that a verb makes of a recording. It is written aside and gets its name when it is whole: what
 * was there before stays until then, and nothing half written is left behind, by signals neither.
 */
#ifndef HODO_CLI_OUTPUT_FILE_H
#define HODO_CLI_OUTPUT_FILE_H

#include <stdbool.h>

#include <base/text.h>
#include <export/symbols.h>

#include "options.h"

/* What begins the arguments of verbs that make a file of a recording, and their options. */
struct hodo_output_args {
	struct hodo_args args;
	const char *path; /* NULL: beside the recording */
	bool force;
};
#define HODO_OPTION_OUTPUT \
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "FILE", \
	  HODO_AT(struct hodo_output_args, path), .wants = "a file's name, or - for standard output", \
	  .words = HODO_WORD_FILE | HODO_WORD_NEW, .help = "write FILE; -: standard output" }
#define HODO_OPTION_FORCE \
	{ .name = "force", .letter = 'f', HODO_AT(struct hodo_output_args, force), .help = "replace FILE if it exists" }

struct hodo_output;
/*
 * Writes what was read to where the options say: "-" standard output, or a file beside the recording, DIR.SUFFIX (""
 * of suffix: standard output). binary: what is not for a terminal, by name; NULL: it may be seen there. While write()
 * goes on, functions and callers have names. 0, or the exit status; what came of it has been said.
 */
int hodo_output_make(const struct hodo_output_args *a, const char *suffix, const char *binary, struct hodo_read *reader,
		     int (*write)(void *data, struct hodo_output *output, struct hodo_text *text,
				  struct hodo_symbols *symbols),
		     void *data);
/*
 * The same of what is no text: write() writes a regular file at its descriptor, and says in w what came of that. 0 or a
 * negative errno; what was wrong with the recording it has said.
 */
struct hodo_written {
	uint64_t bytes;
	bool failed; /* the file could not be written */
};
int hodo_output_file(const struct hodo_output_args *a, const char *suffix,
		     int (*write)(void *data, int fd, struct hodo_written *w), void *data);
/*
 * The same of a directory: write() has hodo_output_append() make files in it. What is there is replaced only if nothing
 * but such files is in it. Standard output it cannot be.
 */
int hodo_output_folder(const struct hodo_output_args *a, const char *suffix, struct hodo_read *reader,
		       int (*write)(void *data, void *folder, struct hodo_symbols *symbols), void *data);
int hodo_output_append(void *folder, const char *name, const void *bytes, size_t len); /* 0 or a negative errno */
/* Whether what is there may be replaced: what stands beside the recording under its name was made from it, and can be
 * again. */
bool hodo_output_replaces(const struct hodo_output_args *a);
/* DIR.SUFFIX, beside the recording, or if it is "." or the like the default's. NULL: no memory. */
char *hodo_output_beside(const char *dir, const char *suffix);
/* How far it is, on a terminal, now and then: "12 MiB written", "1,000 events read". */
void hodo_output_progress(struct hodo_output *output, const char *number, const char *what);

#endif
