/* SPDX-License-Identifier: MIT */
/* packets.h - the packets of streams, for those who write them anew. */
#pragma once

#include <hodo/abi_records.h>
#include <hodo/read.h>
#include <stdbool.h>

/* The streams of a reader's only process are from now on those in another directory, which has no part in its metadata.
 * 0 or a negative errno. */
int hodo_packets_open(struct hodo_read *reader, const char *path);

struct hodo_read_packet {
	struct hodo_packet head; /* sound, see stream.c */
	const uint8_t *body;     /* until the next call */
	size_t bytes;            /* present, of the body: fewer than in head if the file is cut short */
	uint64_t missing;        /* so far: events in packets that are not there, which no packet counts as lost */
	bool compressed;         /* it was in a frame */
};

/* From the first packet on. */
void hodo_packets_start(const struct hodo_read_stream *stream);
/* The next packet: 1; 0: there is none; -EIO, -ENOMEM. */
int hodo_packets_next(const struct hodo_read_stream *stream, struct hodo_read_packet *packet);
/* The next one is searched behind that many bytes of this one's body. 0 or -ENOMEM. */
int hodo_packets_search(const struct hodo_read_stream *stream, size_t bytes);
