/* SPDX-License-Identifier: MIT */
/*
 * selection.h - which events of a recording a verb reads: -e, --process, --thread, --since, --until and --filter mean
 * the same on each (docs/man/hodo.1).
 */
#ifndef HODO_CLI_SELECTION_H
#define HODO_CLI_SELECTION_H

#include "options.h"

#include <hodo/read.h>

/* What a verb does with what is selected, or-ed: struct hodo_verb. */
enum {
	HODO_SELECT = 1,       /* it has these options */
	HODO_SELECT_SPANS = 2, /* shows spans and calls, not their begins and ends: these go together */
	HODO_SELECT_ANY_THREAD = 4, /* reads all threads, and looks itself at whose the events are */
	HODO_SELECT_ALL_CALLS = 8   /* of functions, whatever -e and --filter say */
};

/* Their options, for arguments that begin with a struct hodo_args. */
int hodo_selection_event(void *args, const char *pattern);
int hodo_selection_filter(void *args, const char *expr);
#define HODO_OPTIONS_SELECTION \
	{ .help = "Which events:" }, \
	{ .name = "event", .letter = 'e', .kind = HODO_OPTION_EACH, .arg = "EVENT[,EVENT...]", \
	  .set = hodo_selection_event, .words = HODO_WORD_EVENT | HODO_WORD_LIST, \
	  .help = "of these names: 'kv:*', kv:get; not '!kv:put'" }, \
	{ .name = "process", .kind = HODO_OPTION_NAME, .arg = "PID|COMM", HODO_AT(struct hodo_args, process), \
	  .wants = "a process's number, or a glob for names", .help = "of this process, or of those whose name matches a glob" }, \
	{ .name = "thread", .kind = HODO_OPTION_NAME, .arg = "TID|COMM", HODO_AT(struct hodo_args, thread), \
	  .wants = "a thread's number, or a glob for names", .help = "of this thread, or of those whose name matches a glob" }, \
	{ .name = "since", .kind = HODO_OPTION_TEXT, .arg = "TIME", HODO_AT(struct hodo_args, since), \
	  .help = "from this time on: seconds from the begin (0.25),\nor since the epoch, or HH:MM:SS as print shows it" }, \
	{ .name = "until", .kind = HODO_OPTION_TEXT, .arg = "TIME", HODO_AT(struct hodo_args, until), \
	  .help = "before this time" }, \
	{ .name = "filter", .kind = HODO_OPTION_CALL, .arg = "EXPR", .set = hodo_selection_filter, \
	  .help = "for which EXPR holds, see hodo-filter(7)" }

/* Has the reader give what the options say. 0, or the exit status, having said what is wrong. */
int hodo_selection_apply(struct hodo_args *args, struct hodo_read *reader);
/* Whether a thread is one that --process and --thread ask for. process: NULL, or the kernel: its threads are those of
 * others; pid: the thread's own process. */
bool hodo_selects_thread(const struct hodo_args *args, const struct hodo_read_process *process, uint32_t pid,
			 uint32_t tid, const char *comm);
/* … of an event; of an end by the thread of its begin, if that is known: a span is where it began. */
bool hodo_selects_event(const struct hodo_args *args, const struct hodo_read_event *event);
bool hodo_selection_given(const struct hodo_args *args); /* not all events are wanted */
/* Says so if nothing was as the options say. */
void hodo_selection_end(const struct hodo_args *args);
struct hodo_selection *hodo_selection_new(void); /* that takes all events */
void hodo_selection_free(struct hodo_selection *selection); /* NULL is allowed */

#endif
