/* SPDX-License-Identifier: MIT */
/*
 * options.h - a verb and its options, as data: one table for parsing, --help, the shells' completion and the
 * heads of the manual page's OPTIONS (docs/design/cli.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <base/quantity.h>

/* How an option's value is handled. Each names the member's type; a wrong value is a usage error. */
enum hodo_option_kind {
	HODO_OPTION_FLAG,     /* bool: takes no value, sets true */
	HODO_OPTION_BITS,     /* uint32_t: takes no value, sets the bits of max */
	HODO_OPTION_TEXT,     /* const char * */
	HODO_OPTION_NAME,     /* const char *: not empty */
	HODO_OPTION_NUMBER,   /* uint32_t or uint64_t, min to max */
	HODO_OPTION_SIZE,     /* uint32_t or uint64_t: bytes, min to max */
	HODO_OPTION_POWER,    /* as SIZE, rounded up to a power of two */
	HODO_OPTION_SECONDS,  /* int64_t or uint64_t: a time in ns, min to max; seconds without a unit */
	HODO_OPTION_TIME,     /* as SECONDS, but with a unit */
	HODO_OPTION_CHOICE,   /* an enum: its index in choices */
	HODO_OPTION_CHOICES,  /* uint32_t: a bit for the index of each, separated by commas */
	HODO_OPTION_CALL,     /* set() takes it; value NULL: none */
	HODO_OPTION_EACH,     /* set() takes each comma-separated text; commas inside () and <> do not count */
};

/* What a word is for the shells' completion, or-ed. */
enum {
	HODO_WORD_EVENT = 1,
	HODO_WORD_PID = 2,
	HODO_WORD_DIR = 4, /* a recording */
	HODO_WORD_FILE = 8,
	HODO_WORD_NEW = 16, /* which need not exist yet */
	HODO_WORD_COMMAND = 32, /* begins another command line */
	HODO_WORD_LIST = 64,    /* several, separated by commas */
};

struct hodo_columns;
struct hodo_selection;

struct hodo_option {
	const char *name;  /* "event" of --event; NULL: a heading, and what follows is only in --help=all */
	char letter;       /* 'e' of -e; 0: none */
	enum hodo_option_kind kind;
	const char *arg;   /* its value's name in --help; NULL: it takes none */
	bool optional;     /* --name[=ARG]; the letter takes none */
	const char *help;  /* its lines; NULL: it shares the line of the next option */
	const char *wants; /* what it should be: "a size from 4K to 1T"; generated for choices */
	const char *const *choices; /* ends with NULL; "": none that can be given */
	const char *(*choice)(unsigned i, const char **does); /* instead; --help lists them. NULL: the end */
	const struct hodo_columns *const *tables; /* instead: keys of these columns (table.h); ends with NULL */
	unsigned words;    /* HODO_WORD_* */
	uint64_t min, max;
	size_t at, bytes;  /* the member: HODO_AT() */
	int (*set)(void *args, const char *value); /* 0, or the exit status after a message */
};
#define HODO_AT(type, member) .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)

struct hodo_verb {
	const char *name, *does;
	const char *undoes;  /* the verb whose line of hodo --help names this one; NULL: it has its own line */
	const char *undoing; /* what that line says of it; NULL: "undoes it" */
	const char *usage;   /* what follows the verb; a line for each form */
	const char *about;   /* lines of --help before and behind the options; NULL: none */
	const char *notes;
	const struct hodo_option *options; /* ends with { 0 }; --help is added */
	const struct hodo_columns *const *tables; /* what it shows: hodo_show_make(); NULL: nothing, or run() decides */
	unsigned column;     /* in --help, where the options' text begins */
	bool aligned;        /* there, long names stand below each other */
	bool stops;          /* at the first word that is not an option: the rest is a command */
	/*
	 * HODO_WORD_*: the first word after the options, the others; the first with -k, and after --, if
	 * different
	 */
	unsigned word, words, word_k, word_dashes;
	const char *const *choices; /* of the first word, instead of `word`; ends with NULL */
	unsigned selects;    /* HODO_SELECT_* (selection.h) */
	const char *one;     /* HODO_ONE_RECORDING: what is said of a second word; NULL: there may be more */
	size_t args_bytes;   /* of run()'s argument: zero except for its struct hodo_args, or a copy of defaults */
	const void *defaults;
	int (*run)(void *args);   /* the exit status */
	void (*drop)(void *args); /* called at the end, even after wrong options; NULL: nothing to do */
};

#define HODO_ONE_RECORDING \
	"one recording at a time ('hodo merge' makes one of several, 'hodo query' reads them all)"

enum hodo_color { HODO_COLOR_AUTO, HODO_COLOR_ALWAYS, HODO_COLOR_NEVER };
extern const char *const hodo_color_names[];

/* How tables are shown (table.h). */
struct hodo_show {
	const char *columns; /* NULL: the default ones */
	const char *sort;    /* NULL: the table's order */
	uint64_t limit;      /* rows of each table; UINT64_MAX: all */
	bool json, color;
	struct hodo_fail_ifs *fail_ifs; /* fail_if.h; NULL: none */
	bool reverse;        /* reverses the column's order, but not that of equal rows */
};

#define HODO_DIR_DEFAULT "hodo.data"

/* The beginning of each verb's arguments. */
struct hodo_args {
	const struct hodo_verb *verb;
	char **words; /* after the options; ends with NULL */
	int n;
	int command; /* how many of them followed a --, where options were possible; -1: none */
	/* For verbs that read a recording: */
	const char *dir; /* the first word, or HODO_DIR_DEFAULT */
	const char *since, *until, *around, *thread, *process, *host; /* NULL: not given */
	struct hodo_selection *selection; /* from -e and --filter; NULL: the verb has none */
	int64_t since_ns, until_ns; /* hodo_open_selected() */
	void (*warn)(void *data, const char *text); /* takes warnings of the reader; NULL: they go to standard error */
	void *warn_data;
	struct hodo_show look;
	enum hodo_color color; /* --color; for verbs with tables, look.color has the result */
	bool no_pager, quiet;
	bool each_event; /* though the verb shows spans, events are selected one by one, as print does it */
	bool debuginfod; /* missing symbols are asked of servers */
	bool full_names; /* of C++ functions, in text; JSON has no others */
};

/* Options of several verbs, for arguments that begin with a struct hodo_args. */
#define HODO_OPTION_JSON(text) \
	{ .name = "json", HODO_AT(struct hodo_args, look.json), .help = text }
#define HODO_OPTION_COLOR \
	{ .name = "color", .kind = HODO_OPTION_CHOICE, .arg = "WHEN", .choices = hodo_color_names, \
	  HODO_AT(struct hodo_args, color), .help = "auto, always or never" }
#define HODO_OPTION_NO_PAGER \
	{ .name = "no-pager", HODO_AT(struct hodo_args, no_pager), .help = "even on a terminal" }
/* For verbs that write for people or, with --json, for programs. */
#define HODO_OPTIONS_SHOWN(json_text) HODO_OPTION_JSON(json_text), HODO_OPTION_COLOR, HODO_OPTION_NO_PAGER
#define HODO_OPTION_FULL_NAMES \
	{ .name = "full-names", HODO_AT(struct hodo_args, full_names), \
	  .help = "names of C++ functions in full" }
#define HODO_OPTION_DEBUGINFOD \
	{ .name = "debuginfod", HODO_AT(struct hodo_args, debuginfod), \
	  .help = "get missing symbols from servers (DEBUGINFOD_URLS)" }
#define HODO_OPTION_QUIET(text) \
	{ .name = "quiet", .letter = 'q', HODO_AT(struct hodo_args, quiet), .help = text }
#define HODO_OPTION_COLUMNS(text, of) \
	{ .name = "columns", .kind = HODO_OPTION_TEXT, .arg = "NAMES", HODO_AT(struct hodo_args, look.columns), \
	  .tables = (of), .words = HODO_WORD_LIST, .help = text }
#define HODO_OPTION_SORT(text, of) \
	{ .name = "sort", .kind = HODO_OPTION_TEXT, .arg = "COLUMN", HODO_AT(struct hodo_args, look.sort), \
	  .tables = (of), .help = text }
#define HODO_OPTION_DIR(type, member) \
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "DIR", HODO_AT(type, member), \
	  .wants = "the name of a directory", .words = HODO_WORD_DIR | HODO_WORD_NEW, \
	  .help = "write to DIR (hodo.data); an earlier one moves to DIR.old" }
#define HODO_OPTION_DIFF(type, member, text) \
	{ .name = "diff", .kind = HODO_OPTION_TEXT, .arg = "DIR", HODO_AT(type, member), .words = HODO_WORD_DIR, \
	  .help = text }
#define HODO_OPTION_LIMIT(what, text) \
	{ .name = "limit", .letter = 'n', .kind = HODO_OPTION_NUMBER, .arg = "N", HODO_AT(struct hodo_args, look.limit), \
	  .max = UINT64_MAX, .wants = "a number of " what, .help = text }

#define HODO_GO_ON (-1) /* instead of an exit status: not finished yet */

/*
 * Parses the command line argv, argv[0] being the verb's name, and runs the verb. Handles --help, --help=all
 * and wrong usage. The exit status.
 */
int hodo_verb_run(const struct hodo_verb *verb, int argc, char **argv);

/* The option's i-th choice, NULL: no more. does: its description, or "". */
const char *hodo_option_choice(const struct hodo_option *o, unsigned i, const char **does);
/* "--event", "--event=...", "-e", "-e...". NULL: none; --help does not count. */
const struct hodo_option *hodo_option_find(const struct hodo_verb *verb, const char *word);
/* --help, or with all --help=all. */
void hodo_verb_help(FILE *f, const struct hodo_verb *verb, bool all);
/* For scripts/man-options: "-e, --event EVENT" and the headings, a line each. */
void hodo_verb_heads(FILE *f, const struct hodo_verb *verb);
