/* SPDX-License-Identifier: MIT */
/* recover_stream.h - one stream file of an interrupted recording, copied as far as it is whole. */
#ifndef HODO_RECORD_RECOVER_STREAM_H
#define HODO_RECORD_RECOVER_STREAM_H

#include <stdint.h>

#include "event_walk.h"

struct hodo_recover_stream {
	uint64_t events, bytes; /* written */
	uint64_t torn;          /* events that packets count and that are not there as a whole */
	uint64_t ts_begin;      /* of the first packet, ticks; UINT64_MAX: none */
	uint32_t repaired;        /* packets that were cut, or left out */
};

/*
 * Copies name from the directory in to the directory out: whole packets, and of one that
 * is not whole the events that are. 0; -ENOENT if it is no regular file; another negative errno.
 */
int hodo_recover_stream(int in, int out, const char *name, const uint8_t uuid[16],
			const struct hodo_read_layouts *table, struct hodo_recover_stream *result);

#endif
