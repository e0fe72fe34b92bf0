/* SPDX-License-Identifier: MIT */
/*
 * ctf_metadata.h - writes the metadata file of one process's trace: TSDL, and
 * the comment lines of docs/format.md.
 */
#pragma once

#include <sys/types.h>

#include <base/text.h>

#include <record/catalog.h>
#include <record/clock.h>
#include <record/functions.h>
#include <record/ring/ring_reader.h>

struct hodo_ctf_thread {
	uint32_t tid;
	uint32_t pid; /* of its process, in the kernel's trace; 0: not known, or the trace's process */
	char comm[16];
};

/* The contents of one metadata file. Strings may contain anything. */
struct hodo_ctf_metadata {
	const struct hodo_flight *flight; /* what is known of the process and its memory */
	uint32_t pid;                     /* as the process sees it */
	bool nested;                      /* in a pid namespace below ours */
	const char *kernel; /* its release; NULL: this is a process's trace */
	const struct hodo_read_clock *clock;
	const struct hodo_catalog *catalog;
	const struct hodo_ctf_thread *thread;
	uint32_t threads;
	uint32_t nameless; /* threads that have events but are not among these */
	const struct hodo_text *lost; /* lines of hodo_ctf_add_lost() and hodo_ctf_add_limited(); NULL: none */
	const struct hodo_functions_seen *functions; /* NULL: functions were not recorded */
	bool ended; /* the recording of this process, or of this part of it, is complete */
	bool goes_on; /* then: there will be another part */
	int64_t real_ns; /* when it ended, or the snapshot was taken */
	const char *why; /* the reason of a snapshot, taken while the process ran on; NULL: not a snapshot */
	uint32_t number; /* of the snapshot; 0: it has none */
};

/*
 * Add a line, unless there were none: about a stream's losses, with the size of a ring that would have
 * avoided them (ring_size_hint.h; 0: not known); about events of one kind that were over their rate.
 */
void hodo_ctf_add_lost(struct hodo_text *t, const char *stream, const struct hodo_lost *l, uint64_t room);
/* A line that adds what is damaged to the stream's. */
void hodo_ctf_add_damaged(struct hodo_text *t, const char *stream, uint64_t n);
void hodo_ctf_add_limited(struct hodo_text *t, uint16_t id, uint64_t n);

/* Appends the text; an error is left in out. */
void hodo_ctf_metadata_text(const struct hodo_ctf_metadata *m, struct hodo_text *out);

/*
 * Replaces the file `metadata` in dirfd as a whole. 0, or negative errno: the old file stays. author: the
 * user whose process wrote the contents; if that is another user and we are root, the file becomes that
 * user's, so that readers open its paths with that user's rights.
 */
int hodo_ctf_metadata_write(int dirfd, const struct hodo_text *text, uid_t author);

/* Rewrites the clock's lines (clock NULL: none) of the metadata file in dirfd, or writes it (held: its text, or NULL),
 * and appends more (or NULL). 0 or negative errno. */
int hodo_ctf_metadata_complete(int dirfd, const char *held, const struct hodo_read_clock *clock,
			       const struct hodo_text *more);
