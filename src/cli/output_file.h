/* SPDX-License-Identifier: MIT */
/*
 * output_file.h - a file that a verb makes of a recording. It is written aside and gets its name when it is whole: what
 * was there before stays until then, and nothing half written is left behind, by signals neither.
 */
#ifndef HODO_CLI_OUTPUT_FILE_H
#define HODO_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

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

struct hodo_output {
	char *path;      /* NULL: standard output; the caller frees it at last */
	char *real;      /* what path leads to, if there is something and the user named it */
	char *temporary; /* what is written, and then becomes path; NULL: path itself */
	int fd;
	bool beside; /* its name was made of the recording's */
	bool forced; /* by the user */
	bool force;  /* what is there may be replaced */
	bool failed_write;
};

/* DIR.SUFFIX, beside the recording, or if it is "." or the like the default's; NULL: no memory. */
char *hodo_output_beside(const char *dir, const char *suffix);
/* path "-": standard output; NULL: there was no memory for it. binary: what is not for a terminal, by name; NULL: it
 * may be seen there. 0, or the exit status, having said why. */
int hodo_output_open(struct hodo_output *output, const char *verb, const char *path, const char *binary,
		     const struct hodo_output_args *args);
/* For struct hodo_text (base/text.h); data is the output. */
int hodo_output_write(void *data, const void *bytes, size_t len);
/* err: what happened so far, 0 or a negative errno; dir: the recording, for messages. The exit status, said. */
int hodo_output_close(struct hodo_output *output, const char *dir, int err);

#endif
