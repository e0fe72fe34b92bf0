/* SPDX-License-Identifier: MIT */
/* cli.h - what the verbs of the hodo command share. */
#ifndef HODO_CLI_H
#define HODO_CLI_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include <base/json.h>
#include <base/quantity.h>
#include <base/scope.h>
#include <base/text.h>
#include <hodo/read.h>

#include "options.h"

/* Exit statuses. The last two are for commands, as in a shell. */
#define HODO_EXIT_FAILURE        1
#define HODO_EXIT_USAGE          2
#define HODO_EXIT_CHANGED        3 /* --fail-if */
#define HODO_EXIT_NOT_EXECUTABLE 126
#define HODO_EXIT_NOT_FOUND      127

#define HODO_DIR_DEFAULT "hodo.data"

extern const struct hodo_verb hodo_verb_record, hodo_verb_print, hodo_verb_graph, hodo_verb_report, hodo_verb_export,
	hodo_verb_view, hodo_verb_stat, hodo_verb_top, hodo_verb_list, hodo_verb_enable, hodo_verb_disable,
	hodo_verb_detach, hodo_verb_snapshot, hodo_verb_info, hodo_verb_pack, hodo_verb_unpack, hodo_verb_recover,
	hodo_verb_doctor, hodo_verb_probe, hodo_verb_query, hodo_verb_symbols, hodo_verb_merge, hodo_verb_send,
	hodo_verb_prune;

/* hodo PROGRAM: records the command with default options, and shows the result on standard error. */
int hodo_record_program(char **command);
/* Its result: the table of the recording's events, and which commands show more. */
void hodo_overview(FILE *f, const char *dir, char **command);
/* hodo --complete INDEX WORD...: prints the candidates for word INDEX. The exit status. */
int hodo_complete(int argc, char **argv);
extern const struct hodo_verb *const hodo_verbs[]; /* in the order of --help; ends with NULL */
const struct hodo_verb *hodo_verb_find(const char *name); /* NULL: there is no such verb */

/* ---------------------------------------------------------------------- messages */

/* "hodo: TEXT" on standard error, one line, control bytes replaced. Returns the status: for errors
 * HODO_EXIT_FAILURE, for wrong usage HODO_EXIT_USAGE: "hodo: VERB: TEXT: see 'hodo VERB --help'". */
int hodo_say(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define hodo_error(...)   hodo_say(HODO_EXIT_FAILURE, __VA_ARGS__)
#define hodo_warning(...) hodo_say(0, "warning: " __VA_ARGS__)
#define hodo_usage(verb, text, ...) \
	hodo_say(HODO_EXIT_USAGE, "%s: " text ": see 'hodo %s --help'", verb, ##__VA_ARGS__, verb)

/* The value of --compress, which is optional: a level for pack/compress.h. 0, or HODO_EXIT_USAGE after a
 * message. */
int hodo_compress_level(const char *verb, const char *value, int *level);

int hodo_no_memory(void); /* prints the message; returns HODO_EXIT_FAILURE */
/*
 * A pointer that is not NULL: out of memory, the command ends with a message. For verbs that only show data,
 * and have nothing to save.
 */
#define hodo_must(pointer)                                 \
	({                                                 \
		__auto_type hodo_pointer = (pointer);      \
		if (!hodo_pointer)                         \
			exit(hodo_no_memory());            \
		hodo_pointer;                              \
	})
/* Says why a file or recording cannot be read any further, by the negative errno; returns HODO_EXIT_FAILURE. */
int hodo_cannot_read(const char *path, int err);
/* Says why a command cannot be run, by the negative errno of it; returns the exit status. */
int hodo_cannot_run(const char *command, int err);

/* Finds a program given by name only in PATH, like a shell, unless there is such a file here. */
const char *hodo_find_program(const char *word, char path[PATH_MAX]);

/* ----------------------------------------------------------------------- values */

/* An option's time, within bounds. 0, or the exit status after a message. */
int hodo_set_time(int64_t *ns, const char *verb, const char *option, const char *text, enum hodo_time_form form,
		  int64_t min_ns, int64_t max_ns);

/*
 * Whether to write colours to fd: auto means no if NO_COLOR is in the environment, yes if CLICOLOR_FORCE is,
 * and else if it is a terminal with colours.
 */
bool hodo_use_color(enum hodo_color color, int fd);
enum hodo_style { HODO_PLAIN, HODO_HEADING, HODO_NAME, HODO_DIM, HODO_NOTE, HODO_ALERT };
int hodo_terminal_width(void); /* of standard output; 0: it is none */
/* The sequence that selects it; "" without colours. HODO_PLAIN ends each. */
const char *hodo_style(bool color, enum hodo_style style);

/* ------------------------------------------------------------------------ output */

/* Standard output, or a pager that leads there. */
struct hodo_out {
	int fd;
	pid_t pager; /* 0: none */
	int err;     /* errno of the first write that failed */
	int messages; /* the original standard error while it goes to the pager; -1: it does not */
};

/*
 * pager: through $HODO_PAGER, $PAGER or less if standard output is a terminal; messages on that terminal also
 * go through it. Verbs with much output have --no-pager.
 */
void hodo_out_start(struct hodo_out *out, bool pager);
/* 0, or -1 once nothing can be written any more. */
int hodo_out_write(struct hodo_out *out, const char *data, size_t len);
void hodo_out_text(struct hodo_out *out, struct hodo_text *text); /* writes it, and frees it */
/* Ends the pager. 0, also if the reader of a pipe has closed it; or HODO_EXIT_FAILURE after a message. */
int hodo_out_finish(struct hodo_out *out);
/* A verb's whole output: a text, or with --json an object that begins with {"version":1. */
struct hodo_page {
	struct hodo_text text;
	struct hodo_json json;
	const struct hodo_args *args;
};
void hodo_page_begin(struct hodo_page *page, const struct hodo_args *args);
int hodo_page_end(struct hodo_page *page); /* writes it, and frees it; as hodo_out_finish() */

void hodo_json_finish(struct hodo_json *j); /* } and the end of the line */

/* Parts of what is written. */
void hodo_add_plain(struct hodo_text *to, const char *text); /* control bytes escaped */
/* "3 processes", "the kernel", "the kernel and 1 process"; n counts the kernel. */
const char *hodo_whom(bool kernel, uint32_t n, char buf[48]);

/* -------------------------------------------------------------------- recordings */

/* Options for opening a recording: error gets the reason of a failure, and warnings, unless quiet, go to
 * standard error. */
struct hodo_read_options hodo_read_options(char error[512], bool quiet);
#define HODO_AUTO_READ HODO_AUTO(hodo_scope_read) /* struct hodo_read *, or NULL */
static inline void hodo_scope_read(struct hodo_read **reader)
{
	hodo_read_close(*reader);
}
/* Opens a recording; warnings go to standard error. NULL: the error has been printed. */
struct hodo_read *hodo_open(const char *path, bool quiet);
/*
 * The same for args->dir, reading only the events that the options select (selection.h). 0, or the exit
 * status after a message; then *r may still be open, or NULL.
 */
int hodo_open_selected(struct hodo_read **r, struct hodo_args *args);
uint64_t hodo_lost_discarded(const struct hodo_read_lost *lost); /* all but overwritten */
uint64_t hodo_lost_all(const struct hodo_read_lost *lost);
void hodo_put_when(struct hodo_text *to, int64_t ns); /* date and time, and a line break */
/* The options of hodo record that keep events for which there was no room; room: as in struct
 * hodo_read_stream. */
#define HODO_HINT 64u
const char *hodo_room_hint(uint64_t room, bool may_wait, char hint[HODO_HINT]);
/* The number of lost events, and a line for each process and cause, with the option that would have kept
 * them. */
void hodo_put_lost(struct hodo_text *to, const struct hodo_read *reader, bool color);
/* What is not known of a recording whose recorder was killed, or that is still running; false: it ended
 * normally. */
bool hodo_put_unended(struct hodo_text *to, const struct hodo_read *reader, bool color);
/* If events were lost, or may have been, a line on standard error. */
struct hodo_symbols;
/* The names of functions of that object, or of none if "", could not be kept in a recording, and what to do. */
void hodo_tell_unkept(const char *recording, const char *object, int err);
/* Tells which objects' functions are shown as addresses, why, and what to do. */
void hodo_tell_unnamed(const struct hodo_symbols *symbols);
/* Names of a recording's functions: short ones, or with --full-names and --json full ones. */
struct hodo_symbols *hodo_open_symbols(const struct hodo_args *a, const char *recording);
/* If the options or HODO_DEBUGINFOD ask for it: missing symbols are asked of debuginfod servers. What is wrong with
 * that ends the command. */
void hodo_ask_debuginfod(const struct hodo_args *a, struct hodo_symbols *symbols);
bool hodo_shortens_names(const struct hodo_args *a);
void hodo_tell_lost(const struct hodo_read *reader);
void hodo_tell_lost_of(const char *path, const struct hodo_read *reader); /* which begins with the recording's path */
bool hodo_has_lost(const struct hodo_read *reader); /* whether that says anything */

/* Process images that are not recorded, with the reasons; nothing, if there are none. */
void hodo_put_unrecorded(struct hodo_text *to, const struct hodo_read *reader, bool color);
void hodo_put_json_unrecorded(struct hodo_json *j, const struct hodo_read *reader);

#endif
