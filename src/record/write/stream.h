/* SPDX-License-Identifier: MIT */
/*
 * stream.h - one CTF stream file: whole packets, at all times; if compressed, a frame for each.
 */
#pragma once

#include <hodo/abi.h>
#include <pack/compress.h>
#include <stdbool.h>

#include <record/ring/drain.h>

/*
 * Ticks between the starts of two packets of a stream that would be equal: more than a nanosecond on any
 * clock. babeltrace2 sorts the packets of traces with the same uuid, such as parts, by their start in
 * nanoseconds, and swaps equal ones.
 */
#define HODO_STREAM_APART 16u

struct hodo_stream_file {
	char name[16]; /* "cpu0", "fallback" */
	uint8_t uuid[16];
	uint32_t cpu_id;
	int fd;             /* -1: not open now */
	bool made;          /* the file exists */
	struct hodo_compressor *compressor; /* NULL: it is not compressed; set after _init(), its user's */
	struct hodo_drain *drain; /* NULL: there is only one thread; set after _init(), its user's */
	bool apart;         /* a packet is being written outside of the drain's lock: the file stays open */
	struct hodo_seek_table table;
	uint64_t bytes;     /* on disk: whole packets, without the table of frames at the end */
	uint64_t packets;   /* on disk */
	uint64_t events;    /* on disk */
	uint64_t unwritten; /* events in packets that could not be written, or were not tried */
	uint64_t discarded; /* events_discarded of the last packet on disk */
	/* In earlier files: see hodo_stream_file_next(). */
	uint64_t events_before;
	uint64_t discarded_before;
};

/* ring: its number; fallback: the number of the fallback ring. */
void hodo_stream_file_init(struct hodo_stream_file *s, const uint8_t uuid[16], uint32_t ring, uint32_t fallback);

/*
 * Appends a packet in the directory dirfd. header is as passed to a hodo_ring_sink; uuid, cpu, sequence
 * number and the events not written are filled in here. On an error (negative errno), the file ends at its
 * last whole packet and the packet's events count as unwritten; later calls try again.
 */
int hodo_stream_file_write(struct hodo_stream_file *s, int dirfd, const struct hodo_packet *header,
			   const uint8_t *body);

/*
 * At the end: if more events are missing than the last packet says, adds an empty packet that says so.
 * discarded: missing events, except for those not written. ts: not before the last packet's end. 0, or
 * negative errno: can be tried again.
 */
int hodo_stream_file_settle(struct hodo_stream_file *s, int dirfd, uint64_t discarded, uint64_t ts);

/* The next packet goes to another file, in another directory, where all counts start from 0. */
void hodo_stream_file_next(struct hodo_stream_file *s);

/* Closes the file; the next write opens it again. */
void hodo_stream_file_close(struct hodo_stream_file *s);
/*
 * The same at the stream's end: a compressed file gets its table of frames, if it is open and there is room.
 */
void hodo_stream_file_end(struct hodo_stream_file *s);
