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
