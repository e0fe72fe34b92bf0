/* SPDX-License-Identifier: MIT */
/*
 * spool.h - packed parts of recordings that are to be sent, on the local disk: a directory whose files have the paths
 * that they get at the receiver, HOST/RECORDING/part-NNNNNNNN.hodo. What is in it is unsent, and whole; what was sent
 * is removed. It outlives its recorder: the next one, or `hodo send`, goes on with it.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <base/why.h>
#include <pack/tree.h>

#define HODO_SPOOL_MARK   ".hodo-unsent" /* the file that says what the directory is, and whose: hodo_spool_note() */
#define HODO_SPOOL_SUFFIX ".unsent"      /* of the recording's name */

struct hodo_spooled {
	char *path;
	uint64_t bytes;
};

struct hodo_spool {
	int fd; /* locked as long as it is open */
	char path[PATH_MAX];
	struct hodo_spooled *files; /* in the order in which they are to be sent: oldest recording, then oldest part */
	uint32_t first, n;          /* those before the first are gone */
	uint64_t bytes;
};

/* Whether a directory is one. */
bool hodo_spool_is(const char *path);
/*
 * Opens it; make: makes it if there is nothing. 0, or a negative errno, with a line for the user: -EBUSY: its recorder
 * sends it; -EEXIST: it is something else.
 */
int hodo_spool_open(struct hodo_spool *s, const char *path, bool make, struct hodo_why *why);
/* Removes it if it is empty. */
void hodo_spool_close(struct hodo_spool *s);
/* Of a child that was forked meanwhile, it is the child's then. */
void hodo_spool_let_go(struct hodo_spool *s);

/* Notes what the recording that begins now is called at the receiver, HOST/RECORDING. */
int hodo_spool_note(struct hodo_spool *s, const char *where);
/* What was noted last; false: nothing. */
bool hodo_spool_noted(const struct hodo_spool *s, char *where, size_t size);

/* Packs a recording, whose path is later than all that are there. 0 or a negative errno. */
int hodo_spool_add(struct hodo_spool *s, const struct hodo_tree *tree, const char *path, int level);
/* The same of the part with that number, which is in dir, below HOST/RECORDING. */
int hodo_spool_add_part(struct hodo_spool *s, const char *dir, const char *where, uint32_t number, int level);
/* The i-th from the oldest; NULL: there are fewer. */
const struct hodo_spooled *hodo_spool_at(const struct hodo_spool *s, uint32_t i);
/* Opens a file of it: a descriptor or a negative errno. */
int hodo_spool_file(const struct hodo_spool *s, const struct hodo_spooled *file);
/* Removes the i-th. */
void hodo_spool_remove(struct hodo_spool *s, uint32_t i);

/* A word of a path: letters, digits and ._+-, none of the last two at its beginning, at most 64 bytes. */
void hodo_send_word(char to[65], const char *text);
bool hodo_send_is_word(const char *text);
