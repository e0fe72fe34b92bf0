/* SPDX-License-Identifier: MIT */
/*
 * selection.h - which events of a recording a verb reads: -e, --host, --process, --thread, --since, --until and
 * --filter mean the same on each (docs/man/hodo.1).
 */
#pragma once

#include "options.h"

#include <hodo/read.h>

struct hodo_select;

/* How a verb handles the selection, or-ed: struct hodo_verb. */
enum {
	HODO_SELECT = 1,       /* it has these options */
	HODO_SELECT_SPANS = 2, /* shows spans and calls as a whole: start and end events are selected together */
	HODO_SELECT_ANY_THREAD = 4, /* reads all threads, and checks itself whose the events are */
	HODO_SELECT_ALL_CALLS = 8   /* reads all function calls, regardless of -e and --filter */
};

/* The options' set() functions, for arguments that begin with a struct hodo_args. */
int hodo_selection_event(void *args, const char *pattern);
int hodo_selection_filter(void *args, const char *expr);
#define HODO_OPTIONS_SELECTION \
	{ .help = "Which events:" }, \
	{ .name = "event", .letter = 'e', .kind = HODO_OPTION_EACH, .arg = "EVENT[,EVENT...]", \
	  .set = hodo_selection_event, .words = HODO_WORD_EVENT | HODO_WORD_LIST, \
	  .help = "only these: kv:get, 'kv:*'; all but: '!kv:put'" }, \
	{ .name = "host", .kind = HODO_OPTION_NAME, .arg = "HOST", HODO_AT(struct hodo_args, host), \
	  .wants = "a glob for names of hosts", .help = "of this host, or of hosts whose name matches" }, \
	{ .name = "process", .kind = HODO_OPTION_NAME, .arg = "PID|COMM", HODO_AT(struct hodo_args, process), \
	  .wants = "a process ID, or a glob for names", \
	  .help = "of this process, or of processes whose name matches" }, \
	{ .name = "thread", .kind = HODO_OPTION_NAME, .arg = "TID|COMM", HODO_AT(struct hodo_args, thread), \
	  .wants = "a thread ID, or a glob for names", \
	  .help = "of this thread, or of threads whose name matches" }, \
	{ .name = "since", .kind = HODO_OPTION_TEXT, .arg = "TIME", HODO_AT(struct hodo_args, since), \
	  .help = "from this time on: seconds from the start (0.25),\n" \
		  "or since the epoch, or HH:MM:SS as print shows it" }, \
	{ .name = "until", .kind = HODO_OPTION_TEXT, .arg = "TIME", HODO_AT(struct hodo_args, until), \
	  .help = "before this time" }, \
	{ .name = "filter", .kind = HODO_OPTION_CALL, .arg = "EXPR", .set = hodo_selection_filter, \
	  .help = "that satisfy EXPR, see hodo-filter(7)" }

/* Makes the reader give what the options select. 0, or the exit status after a message. */
int hodo_selection_apply(struct hodo_args *args, struct hodo_read *reader);
/* Of the options, as the reader knows them (read/event/select.h). */
struct hodo_select *hodo_selection_of(const struct hodo_args *args);
/* Whether --host and --process select a process; of the kernel, which has events of all processes, only --host. */
bool hodo_selects_process(const struct hodo_args *args, const struct hodo_read_process *process);
/* A number for what the options select, the same for the same options; 0: all events. */
uint64_t hodo_selection_number(const struct hodo_args *args);
bool hodo_selection_given(const struct hodo_args *args); /* whether not all events are wanted */
bool hodo_selection_names(const struct hodo_args *args); /* whether only events that -e names are wanted */
/* Reports if nothing matched the options. */
void hodo_selection_end(const struct hodo_args *args);
struct hodo_selection *hodo_selection_new(void); /* initially takes all events */
void hodo_selection_free(struct hodo_selection *selection); /* NULL is allowed */
