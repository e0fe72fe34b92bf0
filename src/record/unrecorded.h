/* SPDX-License-Identifier: MIT */
/*
 * unrecorded.h - process images that came to a recording and are not in it: how many, and why.
 */
#ifndef HODO_RECORD_UNRECORDED_H
#define HODO_RECORD_UNRECORDED_H

#include <base/text.h>
#include <sys/types.h>

struct hodo_session;

#define HODO_UNRECORDED_REASONS 16u /* of more, the last one stands for all */

struct hodo_unrecorded {
	uint64_t images;
	char why[192];
};

/* Counts so many. other: what stands for `why` where half of the reasons that there can be are there; NULL: it may be
 * any of them. */
void hodo_unrecorded_count(struct hodo_session *s, const char *why, const char *other, uint64_t images);
/* Counts one that came, and reports it to the user, up to a bound. */
void hodo_unrecorded_add(struct hodo_session *s, pid_t pid, const char *why);

/* Appends their lines of a metadata file. */
void hodo_unrecorded_text(const struct hodo_session *s, struct hodo_text *t);

#endif
