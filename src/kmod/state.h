/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* state.h - the state of the single recording at a time, and which events it wants. */
#pragma once

#include "event.h"
#include "memory.h"
#include <core/config.h>
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

/* Which functions it wants; NULL: none. */
static inline const struct hodo_functions_config *hodo_recording_functions(void)
{
	const struct hodo_msg_config *asked = hodo_recording.asked;

	return asked && asked->functions_len ? (const void *)hodo_config_functions(asked) : NULL;
}

/* Whether the present recording wants the event, by its patterns, or its file in the tree. */
bool hodo_recording_wants(const struct hodo_event *event);
/* Whether the recording's pattern names the event, or the span that it begins or ends. */
bool hodo_event_matches(const char *pattern, const void *event);
