/* SPDX-License-Identifier: MIT */
/*
 * unrecorded.h - process images that belong to a recording but are not in it: how many, and why.
 */
#ifndef HODO_RECORD_JOIN_UNRECORDED_H
#define HODO_RECORD_JOIN_UNRECORDED_H

#include <base/text.h>
#include <sys/types.h>

struct hodo_recorder;

#define HODO_UNRECORDED_REASONS 16u /* the last one stands for all beyond */

struct hodo_unrecorded {
	uint64_t images;
	char why[192];
};

/* Counts that many. other: replaces `why` once half of the reasons are in use; NULL: `why` may use any. */
void hodo_unrecorded_count(struct hodo_recorder *s, const char *why, const char *other, uint64_t images);
/* Counts one that connected, and reports it to the user, up to a bound. */
void hodo_unrecorded_add(struct hodo_recorder *s, pid_t pid, const char *why);

/* Appends their metadata lines. */
void hodo_unrecorded_text(const struct hodo_recorder *s, struct hodo_text *t);

#endif
