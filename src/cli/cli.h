/* SPDX-License-Identifier: MIT */
/* cli.h - what the verbs of the hodo command share. */
#ifndef HODO_CLI_H
#define HODO_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <hodo/read.h>

/* Exit statuses. The last two are of commands, as a shell has them. */
#define HODO_EXIT_FAILURE        1
#define HODO_EXIT_USAGE          2
#define HODO_EXIT_NOT_EXECUTABLE 126
#define HODO_EXIT_NOT_FOUND      127

#define HODO_DIR_DEFAULT "hodo.data"

/* The verbs; argv[0] is the verb's name. They return the exit status. */
int hodo_cmd_record(int argc, char **argv);
int hodo_cmd_print(int argc, char **argv);
int hodo_cmd_stat(int argc, char **argv);
int hodo_cmd_top(int argc, char **argv);
int hodo_cmd_list(int argc, char **argv);
int hodo_cmd_enable(int argc, char **argv);
int hodo_cmd_disable(int argc, char **argv);
int hodo_cmd_detach(int argc, char **argv);
int hodo_cmd_info(int argc, char **argv);
int hodo_cmd_graph(int argc, char **argv);
int hodo_cmd_report(int argc, char **argv);
int hodo_cmd_export(int argc, char **argv);
int hodo_cmd_view(int argc, char **argv);
int hodo_cmd_snapshot(int argc, char **argv);
int hodo_cmd_recover(int argc, char **argv);
int hodo_cmd_doctor(int argc, char **argv);

/* hodo PROGRAM: records the command with default options, and shows what came of it on standard error. */
int hodo_record_program(char **command);
bool hodo_is_verb(const char *name);
int hodo_run_verb(int argc, char **argv);              /* argv[0], which must be one; the exit status */
const char *hodo_verb(unsigned i, const char **does); /* NULL: there are no more */

/* ---------------------------------------------------------------------- messages */

/* "hodo: TEXT" on standard error, one line, control bytes replaced. */
void hodo_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void hodo_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "hodo: VERB: TEXT: see 'hodo VERB --help'"; returns HODO_EXIT_USAGE. */
int hodo_usage(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

int hodo_no_memory(void); /* says so; returns HODO_EXIT_FAILURE */
/* Says why a file or recording cannot be read any further, by the negative errno; returns HODO_EXIT_FAILURE. */
int hodo_cannot_read(const char *path, int err);
/* Says why a command cannot be run, by the negative errno of it; returns the exit status. */
int hodo_cannot_run(const char *command, int err);

/* ----------------------------------------------------------------------- options */

/* Long options without a letter. */
enum { HODO_OPT_JSON = 256, HODO_OPT_COLOR, HODO_OPT_NO_PAGER, HODO_OPT_SINCE, HODO_OPT_UNTIL, HODO_OPT_VERB };

/*
 * getopt_long() with our own errors: prints one and returns '?' for an unknown
 * option or a missing argument. optstring starts with "+:" or ":". Handles
 * -h, --help and --help=all when `help` is not NULL: prints it, and returns 'h'.
 * What stands in it behind a HODO_HELP_ALL is told by --help=all only.
 */
#define HODO_HELP_ALL "\f"
int hodo_getopt(int argc, char **argv, const char *optstring, const struct option *options, const char *help);

/* Bytes with a suffix K, M, G, T (of 1024). 0 or -EINVAL. */
int hodo_parse_size(const char *text, uint64_t *bytes);
/* A whole number. 0 or -EINVAL. */
int hodo_parse_number(const char *text, uint64_t max, uint64_t *number);
/* Seconds with up to nine decimals. 0 or -EINVAL. */
int hodo_parse_seconds(const char *text, int64_t *ns);

/* A duration above 0 with its unit, ns, us, ms or s: 1.5ms. 0 or -EINVAL. */
int hodo_parse_duration(const char *text, uint64_t *ns);

enum hodo_color { HODO_COLOR_AUTO, HODO_COLOR_ALWAYS, HODO_COLOR_NEVER };
/* auto, always, never. 0 or -EINVAL. */
int hodo_parse_color(const char *text, enum hodo_color *color);
/* --color. 0, or the exit status, having said what is wrong. */
int hodo_set_color(enum hodo_color *color, const char *verb, const char *text);
/*
 * Whether to write colours to fd: auto means no if NO_COLOR is in the environment, yes if CLICOLOR_FORCE
 * is, and else a terminal that has them.
 */
bool hodo_use_color(enum hodo_color color, int fd);
enum hodo_style { HODO_PLAIN, HODO_HEADING, HODO_NAME, HODO_DIM, HODO_NOTE, HODO_ALERT };
/* What switches the terminal to it; "" without colours. HODO_PLAIN ends each. */
const char *hodo_style(bool color, enum hodo_style style);

/* ------------------------------------------------------------------------ output */

/* Standard output, or a pager that leads there. */
struct hodo_out {
	int fd;
	pid_t pager; /* 0: none */
	int err;     /* errno of the first write that failed */
	int messages; /* where standard error leads while it leads to the pager; -1: it does not */
};

/*
 * pager: through $HODO_PAGER, $PAGER or less if standard output is a terminal; messages on that terminal go
 * through it as well. What prints much has --no-pager.
 */
void hodo_out_start(struct hodo_out *out, bool pager);
/* 0, or -1 once nothing can be written any more. */
int hodo_out_write(struct hodo_out *out, const char *data, size_t len);
/* Ends the pager. 0, also when the reader of a pipe has gone; or HODO_EXIT_FAILURE, having said why. */
int hodo_out_finish(struct hodo_out *out);
/* Writes what a memory stream holds, and closes it. As hodo_out_finish(). */
int hodo_out_page(FILE *stream, char **data, size_t *len, bool pager);
int hodo_out_stream(FILE *stream, char **data, size_t *len); /* without a pager */

/* Parts of what is written. */
void hodo_put_json(FILE *f, const char *text);          /* with quotes */
void hodo_put_plain(FILE *f, const char *text);         /* control bytes escaped */
const char *hodo_grouped(uint64_t n, char buf[32]);     /* 1,234,567 */
const char *hodo_human_bytes(uint64_t n, char buf[32]); /* 1.5 MiB */
/* "3 processes", "the kernel", "the kernel and 1 process"; n counts the kernel. */
const char *hodo_whom(bool kernel, uint32_t n, char buf[48]);
const char *hodo_duration(uint64_t ns, char buf[32]);   /* in 10 columns: "  1.234 us" */

/* -------------------------------------------------------------------- recordings */

/* Opens a recording; warnings go to standard error. NULL: the error has been printed. */
struct hodo_read *hodo_open(const char *path, bool quiet);
/* --since and --until, from the recording's begin or since the epoch; NULL: none. 0, or the exit status, told. */
int hodo_parse_range(const struct hodo_read *reader, const char *since, const char *until, const char *verb,
		     int64_t *since_ns, int64_t *until_ns);
/* --thread: a tid, or a glob for the thread's name; NULL: any. */
bool hodo_thread_is(const char *wanted, uint32_t tid, const char *comm);
uint64_t hodo_lost_discarded(const struct hodo_read_lost *lost); /* all but overwritten */
uint64_t hodo_lost_all(const struct hodo_read_lost *lost);
/* One line for each process and cause, with the flag that would have kept the events. */
void hodo_put_lost(FILE *f, const struct hodo_read *reader);
/* If events were lost, one line on standard error. */
void hodo_tell_lost(const struct hodo_read *reader);
/* {"full":N,…} */
void hodo_put_lost_json(FILE *f, const struct hodo_read_lost *lost);

#endif
