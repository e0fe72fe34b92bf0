/* SPDX-License-Identifier: MIT */
/*
 * options.h - a verb and its options, as data: one table of which parsing, --help, the shells' completion and the
 * heads of the manual page's OPTIONS are made (docs/design/cli.md).
 */
#ifndef HODO_CLI_OPTIONS_H
#define HODO_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What becomes of an option's value. Each says which member it is for; a wrong value is a usage error. */
enum hodo_option_kind {
	HODO_OPTION_FLAG,     /* bool: takes no value, sets true */
	HODO_OPTION_BITS,     /* uint32_t: takes no value, sets the bits of max */
	HODO_OPTION_TEXT,     /* const char * */
	HODO_OPTION_NAME,     /* const char *: not empty */
	HODO_OPTION_NUMBER,   /* uint32_t or uint64_t, min to max */
	HODO_OPTION_SIZE,     /* uint32_t or uint64_t: bytes, min to max */
	HODO_OPTION_POWER,    /* the same, rounded up to a power of two */
	HODO_OPTION_SECONDS,  /* int64_t or uint64_t: a time in ns, min to max; seconds without a unit */
	HODO_OPTION_TIME,     /* the same, with a unit */
	HODO_OPTION_CHOICE,   /* an enum: its place in choices */
	HODO_OPTION_CHOICES,  /* uint32_t: a bit for the place of each, separated by commas */
	HODO_OPTION_CALL,     /* set() takes it; value NULL: there is none */
	HODO_OPTION_EACH,     /* set() takes each of the texts between commas, one by one; those in () do not count */
};

/* What a word is for the shells' completion, or-ed. */
enum {
	HODO_WORD_EVENT = 1,
	HODO_WORD_PID = 2,
	HODO_WORD_DIR = 4, /* a recording */
	HODO_WORD_FILE = 8,
	HODO_WORD_NEW = 16, /* which need not be there yet */
	HODO_WORD_COMMAND = 32, /* begins a command line of its own */
	HODO_WORD_LIST = 64,    /* several, separated by commas */
};

struct hodo_columns;
struct hodo_selection;

struct hodo_option {
	const char *name;  /* "event" of --event; NULL: a heading, and what follows is of --help=all only */
	char letter;       /* 'e' of -e; 0: none */
	enum hodo_option_kind kind;
	const char *arg;   /* what --help calls its value; NULL: it takes none */
	bool optional;     /* --name[=ARG]; the letter takes none */
	const char *help;  /* its lines; NULL: it stands on the line of the next option */
	const char *wants; /* what it should have been: "a size from 4K to 1T"; of choices it is made */
	const char *const *choices; /* ends with NULL; "": none that can be given */
	const char *(*choice)(unsigned i, const char **does); /* in their place; --help lists them. NULL: the end */
	const struct hodo_columns *const *tables; /* in their place: keys of their columns (table.h); ends with NULL */
	unsigned words;    /* HODO_WORD_* */
	uint64_t min, max;
	size_t at, bytes;  /* the member: HODO_AT() */
	int (*set)(void *args, const char *value); /* 0, or the exit status having said what is wrong */
};
#define HODO_AT(type, member) .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)

struct hodo_verb {
	const char *name, *does;
	const char *usage;   /* what stands behind the verb; a line each way */
	const char *about;   /* lines of --help before and behind the options; NULL: none */
	const char *notes;
	const struct hodo_option *options; /* ends with { 0 }; --help is added */
	const struct hodo_columns *const *tables; /* what it shows: hodo_look_make(); NULL: nothing, or run() decides */
	unsigned column;     /* of --help, where the options' text begins */
	bool aligned;        /* there, long names stand below each other */
	bool stops;          /* at the first word that is no option: what follows belongs to a command */
	/* HODO_WORD_*: the first word behind the options, the others; the first with -k, and behind --, if not so */
	unsigned word, words, word_k, word_dashes;
	const char *const *choices; /* of the first word, in place of `word`; ends with NULL */
	unsigned selects;    /* HODO_SELECT_* (selection.h) */
	const char *one;     /* "one recording at a time": what is said of a second word; NULL: there may be more */
	size_t args_bytes;   /* of what run() takes: zero but for its struct hodo_args, or as defaults has it */
	const void *defaults;
	int (*run)(void *args);   /* the exit status */
	void (*drop)(void *args); /* at last, also where the options were wrong; NULL: nothing to do */
};

enum hodo_color { HODO_COLOR_AUTO, HODO_COLOR_ALWAYS, HODO_COLOR_NEVER };
extern const char *const hodo_color_names[];

/* How tables are shown (table.h). */
struct hodo_look {
	const char *columns; /* NULL: the usual ones */
	const char *sort;    /* NULL: as the table comes */
	uint64_t limit;      /* rows of each table; UINT64_MAX: all */
	bool json, color;
	struct hodo_fail_ifs *fail_ifs; /* fail_if.h; NULL: none */
	bool reverse;        /* the order of the column; not that of equal rows */
};

/* What begins the arguments of each verb. */
struct hodo_args {
	const struct hodo_verb *verb;
	char **words; /* behind the options; ends with NULL */
	int n;
	int command; /* how many of them stood behind a --, where options could have stood; -1: there was none */
	/* Of verbs that read a recording: */
	const char *dir; /* the first word, or HODO_DIR_DEFAULT */
	const char *since, *until, *around, *thread, *process; /* NULL: not given */
	struct hodo_selection *selection; /* of -e and --filter; NULL: the verb has none */
	int64_t since_ns, until_ns; /* hodo_open_selected() */
	void (*warn)(void *data, const char *text); /* takes warnings of the reader; NULL: they go to standard error */
	void *warn_data;
	struct hodo_look look;
	enum hodo_color color; /* --color; of verbs with tables, what follows from it is look.color */
	bool no_pager, quiet;
	bool full_names; /* of C++ functions, in text; JSON has no others */
};

/* Options of several verbs, for arguments that begin with a struct hodo_args. */
#define HODO_OPTION_JSON(text) \
	{ .name = "json", HODO_AT(struct hodo_args, look.json), .help = text }
#define HODO_OPTION_COLOR \
	{ .name = "color", .kind = HODO_OPTION_CHOICE, .arg = "WHEN", .choices = hodo_color_names, \
	  HODO_AT(struct hodo_args, color), .help = "auto, always or never" }
#define HODO_OPTION_NO_PAGER \
	{ .name = "no-pager", HODO_AT(struct hodo_args, no_pager), .help = "also on a terminal" }
/* Of verbs that write for people or, with --json, for programs. */
#define HODO_OPTIONS_SHOWN(json_text) HODO_OPTION_JSON(json_text), HODO_OPTION_COLOR, HODO_OPTION_NO_PAGER
#define HODO_OPTION_FULL_NAMES \
	{ .name = "full-names", HODO_AT(struct hodo_args, full_names), \
	  .help = "names of C++ functions in full" }
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

#define HODO_GO_ON (-1) /* in place of an exit status: nothing has been answered yet */

/*
 * Parses the command line argv, argv[0] being the verb's name, and runs the verb. --help, --help=all and wrong usage
 * are answered here. The exit status.
 */
int hodo_verb_run(const struct hodo_verb *verb, int argc, char **argv);

/* The option's i-th choice, NULL: it has no more. does: what it is, "" if that is not said. */
const char *hodo_option_choice(const struct hodo_option *o, unsigned i, const char **does);
/* "--event", "--event=...", "-e", "-e...". NULL: there is none; --help is none. */
const struct hodo_option *hodo_option_find(const struct hodo_verb *verb, const char *word);
/* --help, or with all --help=all. */
void hodo_verb_help(FILE *f, const struct hodo_verb *verb, bool all);
/* For scripts/man-options: "-e, --event EVENT" and the headings, a line each. */
void hodo_verb_heads(FILE *f, const struct hodo_verb *verb);

#endif
