/* SPDX-License-Identifier: MIT */
/*
 * output_file.h - a file that a verb makes from a recording. It is written aside and gets its name when it is
 * complete: an existing file stays until then, and nothing incomplete is left behind, even by signals.
 */
#pragma once

#include <stdbool.h>

#include <base/text.h>
#include <sym/recording_symbols.h>

#include <cli/options.h>

/* The beginning of the arguments of verbs that make a file from a recording, and their options. */
struct hodo_output_args {
	struct hodo_args args;
	const char *path; /* NULL: beside the recording */
	bool force;
	bool (*is_ours)(int fd); /* whether a file that is there was made so; NULL: that is not to be seen in it */
};
#define HODO_OPTION_OUTPUT \
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "FILE", \
	  HODO_AT(struct hodo_output_args, path), .wants = "a file's name, or - for standard output", \
	  .words = HODO_WORD_FILE | HODO_WORD_NEW, .help = "write FILE; -: standard output" }
#define HODO_OPTION_FORCE \
	{ .name = "force", .letter = 'f', HODO_AT(struct hodo_output_args, force), .help = "replace FILE if it exists" }

/* For what is made of a recording: says one line, or with quiet nothing. */
void (*hodo_output_warn(bool quiet))(const char *text);

struct hodo_output;
/*
 * Writes what was read to the place in the options: "-" for standard output, or a file beside the recording,
 * DIR.SUFFIX (suffix "": standard output). binary: the name of a format that is not for a terminal, or NULL.
 * During write(), functions and callers have names. 0, or the exit status; the result has been reported.
 */
int hodo_output_make(const struct hodo_output_args *a, const char *suffix, const char *binary, struct hodo_read *reader,
		     int (*write)(void *data, struct hodo_output *output, struct hodo_text *text,
				  struct hodo_symbols *symbols),
		     void *data);
/*
 * The same for binary files: write() writes a regular file through its descriptor, and stores the result in
 * w. 0 or a negative errno; it has reported problems of the recording.
 */
struct hodo_written {
	uint64_t bytes;
	bool failed; /* the file could not be written */
};
int hodo_output_file(const struct hodo_output_args *a, const char *suffix,
		     int (*write)(void *data, int fd, struct hodo_written *w), void *data);
/*
 * The same for a directory: write() makes files in it by hodo_output_append(). An existing one is replaced
 * only if it contains nothing but such files. It cannot be standard output.
 */
int hodo_output_folder(const struct hodo_output_args *a, const char *suffix, struct hodo_read *reader,
		       int (*write)(void *data, void *folder, struct hodo_symbols *symbols), void *data);
int hodo_output_append(void *folder, const char *name, const void *bytes, size_t len); /* 0 or a negative errno */
/*
 * A directory of Parquet files. One beside the recording is replaced; one that was named is added to: it may have those
 * of other recordings already, and of this one only with --force. tables: their names, with commas between them; NULL:
 * all.
 */
int hodo_output_parquet(const struct hodo_output_args *a, struct hodo_read *reader, const char *tables);
/* Whether a list with commas has a table's name, in any case of letters. */
bool hodo_output_wants(void *list, const char *table);
/* Whether an existing file may be replaced: one beside the recording, with its name, was made from it, and
 * can be made again, if it is ours. */
bool hodo_output_replaces(const struct hodo_output_args *a);
/* DIR.SUFFIX, beside the recording; for "." and the like, the default's name. NULL: no memory. */
char *hodo_output_beside(const char *dir, const char *suffix);
/* Shows progress on a terminal now and then: "12 MiB written", "1,000 events read". */
void hodo_output_progress(struct hodo_output *output, const char *number, const char *what);
