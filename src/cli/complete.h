/* SPDX-License-Identifier: MIT */
/*
 * complete.h - what a shell completes a command line with. The options and their values are read from the
 * verbs' own --help, so that there is no second list of them to go stale.
 */
#ifndef HODO_CLI_COMPLETE_H
#define HODO_CLI_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

/* What a word in capitals in --help stands for. */
enum {
	HODO_WORD_OTHER = 1,
	HODO_WORD_EVENT = 2,
	HODO_WORD_PID = 4,
	HODO_WORD_DIR = 8, /* a recording */
	HODO_WORD_FILE = 16,
	HODO_WORD_COMMAND = 32, /* a command line of its own */
	HODO_WORD_VALUE = 64,   /* its values stand in the text */
	HODO_WORD_FORMAT = 128, /* of hodo export */
};

#define HODO_HELP_OPTIONS 64u
#define HODO_HELP_LINES   4u
#define HODO_HELP_SLOTS   4u

struct hodo_help_option {
	const char *name; /* "--event"; not terminated */
	int len;
	char letter;      /* 'e'; 0: none */
	unsigned kind;    /* HODO_WORD_*; 0: it takes no value */
	bool optional;    /* --functions[=GLOB] */
	bool list;        /* EVENT[,EVENT...] */
	const char *word; /* EVENT[,EVENT...]; not terminated */
	int word_len;
	char text[400];   /* on one line */
};

/* A line of usage. */
struct hodo_help_line {
	const struct hodo_help_option *needs; /* -k; NULL: none */
	bool needs_dashes;                    /* -- in front of the rest */
	bool repeats, list;                   /* the last slot */
	unsigned slots;
	unsigned kind[HODO_HELP_SLOTS]; /* HODO_WORD_*, or-ed */
};

struct hodo_help {
	unsigned options, lines;
	struct hodo_help_option option[HODO_HELP_OPTIONS];
	struct hodo_help_line line[HODO_HELP_LINES];
};

/* Reads a verb's --help=all; the text stays in use. */
void hodo_help_parse(struct hodo_help *h, const char *text);
/* "--event", "--event=…", "-e", "-e…". NULL: there is none. */
const struct hodo_help_option *hodo_help_find(const struct hodo_help *h, const char *word);
/* The next of the values in an option's text, into value: where to go on; NULL: there was none. */
const char *hodo_help_value(const struct hodo_help_option *o, const char *at, char *value, size_t size);

/* hodo --complete INDEX WORD...: prints what word INDEX could be; the exit status. */
int hodo_complete(int argc, char **argv);

#endif
