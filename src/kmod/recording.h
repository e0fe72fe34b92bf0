/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * recording.h - the one recording at a time: by whoever holds the file `record` open, or by the control
 * tree's `enabled`.
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
	struct hodo_memory *memory; /* of the present or the latest one; NULL: there was none */
	bool stopped;               /* no events come any more, but it can still be read */
	struct hodo_msg_config *asked; /* what the recorder has asked for; NULL: the tree */
};
extern struct hodo_recording hodo_recording;

/* What `enabled` starts with; the files mode, buffer_size_kb and packet_size_kb change it. Under hodo_lock. */
struct hodo_tree_config {
	uint32_t mode;        /* enum hodo_mode; HODO_MODE_OVERWRITE at first */
	uint32_t packet_size; /* bytes */
	uint64_t ring_size;   /* bytes, of each CPU */
};
extern struct hodo_tree_config hodo_tree_config;

/* All of them under hodo_lock, and they sleep. */
/* 0; -EBUSY: there is one; -EINVAL: sizes that cannot be; -ENOMEM. The memory of one that ended is forgotten then. */
int hodo_recording_start_tree(void);
/* config: len bytes, from user space, checked here; kept (kvfree()d) unless it fails. */
int hodo_recording_start(struct hodo_msg_config *config, size_t len);
/* Events are off, and no writer is inside; packets stay open that are. The memory can still be read. */
void hodo_recording_stop(void);
/* Stops if need be; nobody records any more. The memory of the tree's is kept for those who read it, until reset or the
 * next one's start. */
void hodo_recording_end(void);
/* Empties the buffers: the tree's recording begins anew if it runs. -EBUSY: a recorder's. */
int hodo_recording_reset(void);

/* Whether the present recording is to have the event: by its patterns, or its file in the tree. */
bool hodo_recording_wants(const struct hodo_event *event);

/* A ring of a memory moves on what may be reused; see <hodo/abi_kernel.h>. 0 or -EINVAL. */
int hodo_ring_put_consumed(struct hodo_memory *memory, uint32_t ring, uint64_t packets);
uint64_t hodo_ring_consumed(struct hodo_memory *memory, uint32_t ring);
uint64_t hodo_ring_produced(struct hodo_memory *memory, uint32_t ring); /* bytes */
/* Closes packets with events that were begun more than age ticks ago, if this memory is still being written. Takes
 * hodo_lock. */
void hodo_recording_flush(struct hodo_memory *memory, uint64_t age);
/* For poll(): wakes when a packet was closed. */
extern struct wait_queue_head hodo_ring_wait;
extern bool hodo_ring_waited; /* somebody waits, or will: set before waiting */

/* registry.c: what it does with all events. Under hodo_lock. */
/* A recording begins: nothing is in its catalogue yet. */
void hodo_registry_begin(void);
/* Switches on what the recording wants. */
void hodo_registry_on(void);
/* Switches all off, and waits until no writer is inside. */
void hodo_registry_off(void);

/* Whether the recording's pattern names the event, or the span that it begins or ends. */
bool hodo_event_matches(const char *pattern, const void *event);

/* rules.c: what it, or an event's file in the control tree, asks to be looked at. Under hodo_lock. */
/* A recording begins, with no event on. 0 or -EINVAL: its conditions are not as they must be. */
int hodo_rules_prepare(void);
/* The event is off. wanted: it is to be recorded itself. 0; HODO_RULES_NEVER: nothing is to be done for it; negative
 * errno. */
#define HODO_RULES_NEVER 1
int hodo_rules_bind(struct hodo_event *event, bool wanted);
/* The event is off, and no writer inside. */
void hodo_rules_free(struct hodo_event *event);

#endif
