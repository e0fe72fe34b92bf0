/* SPDX-License-Identifier: MIT */
/* out.h - where verbs write to, and in which colours. */
#pragma once

#include <sys/types.h>

#include <base/json.h>
#include <base/text.h>
#include <cli/options.h>

/*
 * Whether to write colours to fd: auto means no if NO_COLOR is in the environment, yes if CLICOLOR_FORCE is,
 * and else if it is a terminal with colours.
 */
bool hodo_use_color(enum hodo_color color, int fd);
enum hodo_style { HODO_PLAIN, HODO_HEADING, HODO_NAME, HODO_DIM, HODO_NOTE, HODO_ALERT };
int hodo_terminal_width(void); /* of standard output; 0: it is none */
/* The sequence that selects it; "" without colours. HODO_PLAIN ends each. */
const char *hodo_style(bool color, enum hodo_style style);

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

void hodo_add_plain(struct hodo_text *to, const char *text); /* control bytes escaped */
