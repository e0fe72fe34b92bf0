/* SPDX-License-Identifier: MIT */
/* top_target.h - hodo top: the processes that are watched. */
#ifndef HODO_CLI_TOP_TARGET_H
#define HODO_CLI_TOP_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <record/record.h>

#include "record_attach.h"
#include "top.h"

struct hodo_top_target {
	char **command;                   /* NULL: processes */
	struct hodo_attach_options attach;
	bool *deaf; /* of each of these: it did not listen before */
	struct hodo_top_watch *watches; /* of processes that others record */
	struct hodo_launch launch;
	pid_t pid;    /* of the command, 0: not started */
	bool ended;   /* the command */
	int status;   /* of it, as wait() has it */
	int output;   /* what the command writes, while the screen is ours; -1: it writes where we do */
	uint64_t output_dropped; /* bytes at its begin that were dropped */
	struct hodo_map off; /* struct hodo_bytes: names of events that were switched off here */
};

/*
 * Starts the command in the session. screen: the terminal is not its own; else its standard output goes where our
 * standard error goes, since ours is data. 0, or the exit status, having said why.
 */
int hodo_top_start(struct hodo_top_target *t, struct hodo_session *s, const char *library, bool screen);
/* Notices the command's end. */
void hodo_top_reap(struct hodo_top_target *t);
/* Bounds the memory that the command's output takes. */
void hodo_top_trim_output(struct hodo_top_target *t);
/* Writes the end of the command's output to ours. */
void hodo_top_put_output(struct hodo_top_target *t);

/* Begins to record the processes. How many there are. */
uint32_t hodo_top_attach(struct hodo_top_target *t, struct hodo_session *s);
/* Those that were made to listen do so no more; after the session. */
void hodo_top_detach(struct hodo_top_target *t);

/*
 * Takes those out of attach that somebody else records in such a way that they can be watched, and says so.
 */
void hodo_top_find_watched(struct hodo_top_target *t);

/* Switches an event on or off in all processes that are watched; says in what came of it. */
void hodo_top_switch(struct hodo_top_target *t, const struct hodo_top_counter *c, const struct hodo_top_row *row,
		     char *said, size_t size);
/* Switches on again what was switched off here. */
void hodo_top_switch_back(struct hodo_top_target *t, const struct hodo_top_counter *c);

void hodo_top_target_free(struct hodo_top_target *t);

#define HODO_TOP_TITLE_MAX 256u
/* What is watched, "kvd[4711] ls[4712]", printable. */
void hodo_top_title(const struct hodo_top_target *t, char *title, size_t size);

#endif
