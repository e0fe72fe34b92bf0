/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - writes the contents of a memory in overwrite mode at one moment as a separate recording, while
 * the process keeps writing.
 *
 *   who             writes                      beside
 *   CPU's writers   words, packets, counts      the snapshot
 *   the snapshot    nothing there               writers, the recorder, other snapshots
 *
 * First all rings are copied (ring_copy.h), then the catalogue is read, which by then has every event in the
 * copies.
 *
 * The memory is hostile, as everywhere in the recorder, and so is its description of itself. The caller must
 * ensure that mapped files cannot be truncated.
 */
#pragma once

#include <base/why.h>
#include <hodo/abi.h>

#include <record/clock.h>
#include "ctf_metadata.h"
#include <record/functions.h>
#include <record/ring/ring_reader.h>

/* The source of a snapshot. Nothing of it is kept. */
struct hodo_snapshot_source {
	const uint8_t *shm; /* layout.total bytes; may be mapped read-only */
	struct hodo_layout layout;
	int fd;                           /* of the mapped file, to skip rings that were never used; -1: none */
	const struct hodo_flight *flight; /* the caller's private copy, from hodo_snapshot_layout() */
	uint32_t pid;                     /* as the process sees it */
	const char *kernel;               /* its release, if it is the kernel's memory; else NULL */
	const struct hodo_read_clock *clock;
	struct hodo_compressor *compressor; /* NULL: it is not compressed */
	bool functions;    /* functions were recorded: the metadata has their number */
	uint32_t number;   /* of the snapshot, 0: none */
	const char *why;   /* NULL: not a snapshot, but everything left of the process (hodo recover) */
	int64_t taken_real_ns; /* when; 0: now */
	const struct hodo_ctf_thread *thread; /* better names than the memory's */
	uint32_t threads;
};

struct hodo_snapshot_result {
	char dir[64];    /* the folder that was made */
	uint64_t events, bytes; /* in it */
	uint32_t damaged_rings; /* whose contents were at least partly invalid */
	struct hodo_lost lost;
};

/*
 * Finds the layout of a memory of that size: flight as received with it, rings as in struct hodo_shm. 0, or
 * -EPROTO if it is not valid. Terminates flight's texts.
 */
int hodo_snapshot_layout(struct hodo_flight *flight, uint32_t rings, uint64_t bytes, struct hodo_layout *layout);

/* The kernel's id of this boot; "" if not available. */
void hodo_boot_id(char *to, size_t size);
/* Whether the memory was written in this boot, so that its clock is the present one. */
bool hodo_snapshot_this_boot(const struct hodo_flight *flight);

#define HODO_SNAPSHOT_REAL_NS_MAX 4000000000000000000ll /* in the year 2096: later times are damage */
/*
 * The clock of a memory, from the moments in flight; in the same boot, from its first one and now. -ENODATA
 * if there is only one moment, of another boot.
 */
int hodo_snapshot_clock(const struct hodo_flight *flight, struct hodo_read_clock *map);

/*
 * Makes a folder in out_fd with the snapshot. 0, or negative errno and a line for the user in why, without
 * newline; then the folder is removed.
 */
int hodo_snapshot_write(const struct hodo_snapshot_source *source, int out_fd, struct hodo_snapshot_result *result,
			struct hodo_why *why);
