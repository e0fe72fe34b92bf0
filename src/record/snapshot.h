/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - writes what a memory in overwrite mode holds at one time, as a
 * recording of its own, while the process writes on.
 *
 *   who             writes                      beside
 *   CPU's writers   words, packets, counts      the snapshot
 *   the snapshot    nothing there               writers, the recorder, other snapshots
 *
 * First all rings are copied (ring_image.h), then the catalogue is read, in which every event of the copies has its
 * place by now.
 *
 * The memory is hostile, as everywhere in the recorder, and so is what it says
 * of itself. What is mapped from a file must be kept from being cut short by the caller.
 */
#ifndef HODO_RECORD_SNAPSHOT_H
#define HODO_RECORD_SNAPSHOT_H

#include <hodo/abi.h>

#include "clock.h"
#include "ctf_metadata.h"
#include "functions.h"
#include "ring_reader.h"

/* What a snapshot is made of. Nothing of it is kept. */
struct hodo_snapshot_source {
	const uint8_t *shm; /* layout.total bytes; may be mapped for reading only */
	struct hodo_layout layout;
	int fd;                           /* of what is mapped, to skip rings that were never used; -1: not to be had */
	const struct hodo_flight *flight; /* a copy that is the caller's alone, as hodo_snapshot_layout() takes it */
	uint32_t pid;                     /* as the process sees it */
	const char *kernel;               /* its release, if it is the kernel's memory; else NULL */
	const struct hodo_clock_map *clock;
	struct hodo_compressor *compressor; /* NULL: it is not compressed */
	bool functions;    /* functions were recorded: their number stands in the metadata */
	uint32_t number;   /* of the snapshot, 0: it has none */
	const char *why;   /* NULL: this is no snapshot, but all that there is of the process (hodo recover) */
	int64_t taken_real_ns; /* when; 0: now */
	const struct hodo_ctf_thread *thread; /* names that are known better than the memory has them */
	uint32_t threads;
};

struct hodo_snapshot_result {
	char dir[64];    /* the folder that was made */
	uint64_t events, bytes; /* in it */
	uint32_t damaged_rings; /* whose contents made no sense, at least in part */
	struct hodo_lost lost;
};

/*
 * Finds the layout of a memory of so many bytes: flight as it came with it, rings as in struct hodo_shm.
 * 0, or -EPROTO if it cannot be. Terminates flight's texts.
 */
int hodo_snapshot_layout(struct hodo_flight *flight, uint32_t rings, uint64_t bytes, struct hodo_layout *layout);

/* This boot of the machine, as the kernel names it; "" if that is not to be had. */
void hodo_boot_id(char *to, size_t size);
/* Whether the memory was written since this machine was started, so that its clock is the present one. */
bool hodo_snapshot_this_boot(const struct hodo_flight *flight);

#define HODO_SNAPSHOT_REAL_NS_MAX 4000000000000000000ll /* in the year 2096: what is later is damage */
/*
 * The clock of a memory, from the moments that flight has of it; on the boot that it was
 * written in, from its first one and now. -ENODATA if there is only one time, of another boot.
 */
int hodo_snapshot_clock(const struct hodo_flight *flight, struct hodo_clock_map *map);

/*
 * Makes a folder in out_fd with the snapshot. 0 or negative errno, and a line for the
 * user in error, without newline; what was made is removed then.
 */
int hodo_snapshot_write(const struct hodo_snapshot_source *source, int out_fd, struct hodo_snapshot_result *result,
			char *error, size_t error_size);

#endif
