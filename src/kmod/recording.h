/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * recording.h - the single recording at a time: by the opener of the file `record`, or by the control tree's
 * `enabled`.
 */
#pragma once

#include "state.h"

/* The configuration for `enabled`; the files mode, buffer_size_kb and packet_size_kb change it. Under
 * hodo_lock. */
struct hodo_tree_config {
	uint32_t mode;        /* enum hodo_mode; HODO_MODE_OVERWRITE at first */
	uint32_t packet_size; /* bytes */
	uint64_t ring_size;   /* bytes, of each CPU */
};
extern struct hodo_tree_config hodo_tree_config;

/* All of them under hodo_lock, and they sleep. */
/* 0; -EBUSY: there is one; -EINVAL: invalid sizes; -ENOMEM. Releases the memory of one that has ended. */
int hodo_recording_start_tree(void);
/* config: len bytes, from user space, checked here; kept (kvfree()d) unless it fails. */
int hodo_recording_start(struct hodo_msg_config *config, size_t len);
/* Events are off, and no writer is inside; open packets stay open. The memory can still be read. */
void hodo_recording_stop(void);
/* Stops if necessary; nobody records any more. The memory of the tree's recording is kept for readers until
 * reset or the next start. */
void hodo_recording_end(void);
/* Empties the buffers: the tree's recording starts over if it runs. -EBUSY: it is a recorder's. */
int hodo_recording_reset(void);

/* Closes non-empty packets begun more than age ticks ago, if this memory is still being written. Takes
 * hodo_lock. */
void hodo_recording_flush(struct hodo_memory *memory, uint64_t age);
