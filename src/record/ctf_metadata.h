/* SPDX-License-Identifier: MIT */
/*
 * ctf_metadata.h - writes the metadata file of one process's trace: TSDL, and
 * the comment lines of docs/format.md.
 */
#ifndef HODO_RECORD_CTF_METADATA_H
#define HODO_RECORD_CTF_METADATA_H

#include <base/text.h>

#include "catalog.h"
#include "clock.h"
#include "functions.h"
#include "ring_reader.h"

struct hodo_ctf_thread {
	uint32_t tid;
	uint32_t pid; /* of its process, in the kernel's trace; 0: not known, or the trace's own */
	char comm[16];
};

struct hodo_ctf_lost {
	char stream[16];
	struct hodo_lost lost;
};

/* Of one that was taken while the process ran on. */
struct hodo_ctf_snapshot {
	uint32_t number; /* 0: it has none */
	int64_t real_ns;
	const char *why;
};

/* Events of one kind that were over their rate. */
struct hodo_ctf_limited {
	uint16_t id;
	uint64_t n;
};

/* What one metadata file says. Strings may hold anything. */
struct hodo_ctf_metadata {
	const struct hodo_flight *flight; /* what is known of the process and its memory */
	uint32_t pid;                     /* as the process sees it */
	const char *kernel; /* its release; NULL: this is a process's */
	const struct hodo_clock_map *clock;
	const struct hodo_catalog *catalog;
	const struct hodo_ctf_thread *thread;
	uint32_t threads;
	const struct hodo_ctf_lost *lost; /* only streams that lost something */
	uint32_t losts;
	const struct hodo_ctf_limited *limited; /* only those of which there were any */
	uint32_t limiteds;
	const struct hodo_functions_seen *functions; /* NULL: functions were not recorded */
	bool ended; /* the recording of this process is complete */
	int64_t end_real_ns;
	const struct hodo_ctf_snapshot *snapshot; /* NULL: it is none */
};

/* Adds what a stream lost, if it did, to a list of n, which is to be freed. 0 or -ENOMEM. */
int hodo_ctf_add_lost(struct hodo_ctf_lost **list, uint32_t *n, const char *stream, const struct hodo_lost *lost);

/* Appends the text; an error is left in out. */
void hodo_ctf_metadata_text(const struct hodo_ctf_metadata *m, struct hodo_text *out);

/*
 * Replaces the file `metadata` in dirfd as a whole. 0 or negative errno, and
 * then what was there is still there.
 */
int hodo_ctf_metadata_write(int dirfd, const struct hodo_text *text);

/* Rewrites the clock's lines of the metadata file in dirfd. 0 or negative errno. */
int hodo_ctf_metadata_set_clock(int dirfd, const struct hodo_clock_map *clock);

#endif
