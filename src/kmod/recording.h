/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * recording.h - the single recording at a time: by the opener of the file `record`, or by the control tree's
 * `enabled`.
 */
#ifndef HODO_KMOD_RECORDING_H
#define HODO_KMOD_RECORDING_H

#include "event.h"
#include "memory.h"
#include <core/ring.h>

enum hodo_recorded { HODO_RECORDED_NOT, HODO_RECORDED_BY_FILE, HODO_RECORDED_BY_TREE };

/* Under hodo_lock. */
struct hodo_recording {
	enum hodo_recorded by;
	uint32_t number; /* of recordings so far */
	struct hodo_ring_config config;
	struct hodo_memory *memory; /* of the present or the latest one; NULL: none */
	bool stopped;               /* there are no more events, but it can still be read */
	struct hodo_msg_config *asked; /* the recorder's configuration; NULL: the tree's */
};
extern struct hodo_recording hodo_recording;

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

/* Whether the present recording wants the event, by its patterns, or its file in the tree. */
bool hodo_recording_wants(const struct hodo_event *event);

/* Advances what may be reused in a memory's ring; see <hodo/abi_kernel.h>. 0 or -EINVAL. */
int hodo_ring_put_consumed(struct hodo_memory *memory, uint32_t ring, uint64_t packets);
uint64_t hodo_ring_consumed(struct hodo_memory *memory, uint32_t ring);
uint64_t hodo_ring_produced(struct hodo_memory *memory, uint32_t ring); /* bytes */
/* Closes non-empty packets begun more than age ticks ago, if this memory is still being written. Takes
 * hodo_lock. */
void hodo_recording_flush(struct hodo_memory *memory, uint64_t age);
/* For poll(): wakes when a packet was closed. */
extern struct wait_queue_head hodo_ring_wait;
extern bool hodo_ring_waited; /* somebody waits, or will: set before waiting */

/* registry.c: operations on all events. Under hodo_lock. */
/* A recording begins: nothing is in its catalogue yet. */
void hodo_registry_begin(void);
/* Switches on what the recording wants. */
void hodo_registry_on(void);
/* Switches all off, and waits until no writer is inside. */
void hodo_registry_off(void);

/* Whether the recording's pattern names the event, or the span that it begins or ends. */
bool hodo_event_matches(const char *pattern, const void *event);

/* rules.c: conditions of the recording, or of an event's file in the control tree. Under hodo_lock. */
/* A recording begins, with no event on. 0 or -EINVAL: its conditions are not valid. */
int hodo_rules_prepare(void);
/* The event is off. wanted: the event itself is to be recorded. 0; HODO_RULES_NEVER: it is not needed at all;
 * negative errno. */
#define HODO_RULES_NEVER 1
int hodo_rules_bind(struct hodo_event *event, bool wanted);
/* The event is off, and no writer inside. */
void hodo_rules_free(struct hodo_event *event);

#endif
