/* SPDX-License-Identifier: MIT */
/* select.h - what it means that an event is one of those asked for: for hodo_read_select(), and for the command. */
#pragma once

#include <hodo/columns.h>

#include <base/map.h>

#include "pattern.h"

struct hodo_event_filter;

/* Which events are asked for; with nothing but classes, all. */
struct hodo_select {
	struct hodo_pattern_list events;
	struct hodo_event_filter *filter;
	const char *host, *process, *thread; /* each a glob for a name, or of the last two a number; NULL: any */
	struct hodo_map classes; /* what the patterns say of each */
	bool whole;      /* an end goes by the class of its start, too: a name of either is one of the span */
	bool any_thread; /* its user checks whose they are */
};
#define HODO_SELECT_CLASSES HODO_MAP(struct hodo_select_known, cls)

void hodo_select_end(struct hodo_select *select); /* frees all but the names */
void hodo_select_free(struct hodo_select *select); /* the reader's, with its names; NULL is allowed */

/* What the patterns say of each class is kept in a map of these, by class. */
struct hodo_select_known {
	const struct hodo_read_class *cls;
	bool known;
	enum hodo_pattern_says says;
};
/* Whether the reader's selection, which may be NULL, has the class. */
bool hodo_select_has_class(const struct hodo_select *select, const struct hodo_read_class *cls);
/*
 * Whether it has the thread. of: NULL, or the kernel: its threads are those of others; pid: the thread's own process.
 */
bool hodo_select_has_thread(const struct hodo_select *select, const struct hodo_read_process *of, uint32_t pid,
			    uint32_t tid, const char *comm);
/* Whether a selection, which may be NULL, has the thread of an event; of an end event, that of its start, if known: a
 * span is where it began. */
bool hodo_select_whose(const struct hodo_select *select, const struct hodo_read_event *event);
/* Whether an event is one of those, or -ENOMEM: for hodo_read_choose(). */
int hodo_select_takes(void *select, const struct hodo_read_event *event);

/* Has the reader leave out the files of all other hosts; NULL: of none. Before it reads. */
void hodo_select_hosts(struct hodo_read *reader, const char *wanted);

/* Whom to tell of names that nothing in the recording has: "'kv:gte' (near: kv:get)". */
enum hodo_select_kind { HODO_SELECT_EVENTS, HODO_SELECT_FIELDS, HODO_SELECT_HOST };
struct hodo_select_unknown {
	void (*tell)(void *data, enum hodo_select_kind kind, const char *names);
	void *data;
};

/* Looks for them. 0 or -ENOMEM. */
int hodo_select_check(const struct hodo_read *reader, struct hodo_select *select,
		      const struct hodo_select_unknown *unknown);
