/* SPDX-License-Identifier: MIT */
/* own_stream.h - a stream of events that the recorder itself writes about a process that has ended or is let
 * go. */
#pragma once

#include <record/process_impl.h>

struct hodo_own_stream {
	struct hodo_process *process;
	struct hodo_packet head; /* of the packet being filled */
	uint8_t *body;
	size_t used, room; /* bytes of body */
	uint32_t tid;      /* of the last anchor; there is one if used is not 0 */
};

/* 0 or -ENOMEM, which is reported; end after either. */
int hodo_own_stream_begin(struct hodo_own_stream *own, struct hodo_process *p, const char *name);
void hodo_own_stream_end(struct hodo_own_stream *own);

/* The id under which the process registered the event with fields of these types, 0 if it has not. */
uint16_t hodo_own_stream_id(const struct hodo_own_stream *own, const char *name, const uint8_t *types, size_t n);

/* Makes room for an event with that many bytes of payload; events added then have own->head.timestamp_begin. */
void hodo_own_stream_room(struct hodo_own_stream *own, size_t payload);
/* Adds an event of a thread: its payload, and what follows it. */
void hodo_own_stream_add(struct hodo_own_stream *own, uint16_t id, uint32_t tid, const void *payload, size_t bytes,
			 const void *more, size_t more_bytes);
