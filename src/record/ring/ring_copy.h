/* SPDX-License-Identifier: MIT */
/*
 * ring_copy.h - copies of rings in overwrite mode, taken while they are written: without gaps, up to the newest event,
 * and cut off at one time. docs/design/snapshots.md says how, and why from the newest packet backwards.
 */
#pragma once

#include <hodo/abi.h>

#include "ring_reader.h"

struct hodo_ring_copy {
	uint32_t number;       /* of the ring */
	struct hodo_ring ring; /* its control block: word is the end of the copy, 0: the ring is empty */
	uint8_t *packets;      /* ring_size bytes, valid for packets from oldest on */
	uint64_t oldest;       /* sequence number; all up to the open one are there */
	uint64_t available;    /* packets that existed when copying began */
	uint64_t missed;       /* if nothing could be copied: how many events were committed */
	uint64_t ts_max;       /* ticks at the cut-off time; UINT64_MAX: none */
	bool broken;           /* its positions were invalid */
};

struct hodo_ring_copies {
	struct hodo_layout layout;
	struct hodo_ring_copy *image; /* of rings in use, ascending */
	uint32_t n;
	void *map;
	uint64_t map_bytes;
};

/*
 * Copies the rings of the memory. clock: its clock; snapshot: it is itself a copy (HODO_SHM_SNAPSHOT). fd as
 * in struct hodo_snapshot_source. 0 or negative errno.
 */
int hodo_ring_copies_take(struct hodo_ring_copies *images, const uint8_t *shm, const struct hodo_layout *layout, int fd,
			  enum hodo_clock clock, bool snapshot);
void hodo_ring_copies_free(struct hodo_ring_copies *images);

/*
 * A reader for hodo_ring_finish(), which gives bodies in the image, with room for their header before them.
 */
void hodo_ring_copy_reader(const struct hodo_ring_copies *images, struct hodo_ring_copy *image,
			    struct hodo_ring_reader *r);
