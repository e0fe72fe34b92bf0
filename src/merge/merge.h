/* SPDX-License-Identifier: MIT */
/*
 * merge.h - recordings of several hosts, or boots, as one on one timeline (docs/design/merge.md).
 *
 *	hodo_merge_new()     then
 *	hodo_merge_add()     for each recording: what it says of its host and clock
 *	hodo_merge_check()   whether the pairs that the user named are in them
 *	hodo_merge_read()    for each: what it sent and received
 *	hodo_merge_solve()   how each one's times become those of the reference
 *	hodo_merge_write()   for each: its folder in the output
 *
 * Recordings are only read, one at a time.
 */
#pragma once

#include <base/why.h>
#include <hodo/read.h>

#include "bounds.h"
#include "messages.h"

#define HODO_MERGE_MAX 16384u /* recordings */

enum hodo_merge_by {
	HODO_MERGE_REFERENCE,
	HODO_MERGE_BOOT,     /* the same boot of a machine as another one: the same clock */
	HODO_MERGE_MESSAGES,
	HODO_MERGE_ONE_WAY,  /* one-way messages: the wall clock, moved until none arrives before it was sent */
	HODO_MERGE_NTP,      /* the wall clock, which something synchronised */
	HODO_MERGE_WALL      /* the wall clock, of which nothing is known */
};
const char *hodo_merge_by_text(enum hodo_merge_by by);

struct hodo_merge_recording {
	const char *path;
	char *host;   /* the name by which it is known from now on: unlike those of other hosts */
	char *folder; /* in the output */
	char *boot_id; /* NULL: not known */
	bool given_name; /* host is what the user wants */
	bool complete;   /* nobody writes to it any more */
	bool messages;   /* it has events that may be sides of messages */
	bool wall_known, synchronised;
	int64_t begin_ns, end_ns; /* by its own clock */
	int64_t mono_ns;  /* its wall clock minus CLOCK_MONOTONIC, by which its times are tied to the former */
	int64_t step_ns;  /* what is to be added to its times to get the wall clock at its best */
	int64_t error_ns; /* of that at most, if synchronised */
	uint32_t node;    /* recordings of one boot are one */
	/* The result. */
	enum hodo_merge_by by;
	struct hodo_line_of_time line; /* its own times as the reference's */
	uint64_t pairs;    /* messages between its host and others */
	double worst_ns;   /* how wrong the line is at most, from begin to end; negative: not known */
};

struct hodo_merge {
	struct hodo_merge_recording *recording;
	uint32_t n;
	uint32_t reference; /* index; the first unless set */
	struct hodo_messages messages;
	uint64_t ambiguous; /* messages whose key is none */
	struct hodo_why why; /* what went wrong, for the user */
	struct hodo_reporter reporter; /* of warnings */
	struct hodo_map *uuids; /* of folders */
	struct hodo_merge_graph *graph;
};

struct hodo_merge *hodo_merge_new(void); /* NULL: no memory */
void hodo_merge_free(struct hodo_merge *m);

/* All return 0, or a negative errno with m->why. name: how the host is called; NULL: as it calls itself. */
int hodo_merge_add(struct hodo_merge *m, const char *path, const char *name);
int hodo_merge_check(struct hodo_merge *m);
int hodo_merge_read(struct hodo_merge *m, uint32_t i);
int hodo_merge_solve(struct hodo_merge *m);

struct hodo_merge_written {
	uint64_t files, bytes; /* in the output */
	uint64_t copied;       /* of these bytes */
};
/* out_fd: the directory of the output. copy: no file is shared with the recordings. */
int hodo_merge_write(struct hodo_merge *m, uint32_t i, int out_fd, bool copy, struct hodo_merge_written *written);

/* -------------------------------------------------------------------- between the files */

/* names.c: gives each recording its host's name, its node and its folder. 0 or -ENOMEM. */
int hodo_merge_name(struct hodo_merge *m);
/* metadata.c: a folder's metadata for the new timeline. 0 or a negative errno. */
struct hodo_text;
int hodo_merge_metadata(const struct hodo_merge_recording *r, const struct hodo_text *old, struct hodo_text *out);
