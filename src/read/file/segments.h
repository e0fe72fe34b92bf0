/* SPDX-License-Identifier: MIT */
/* segments.h - the files of a stream: one, or one for each part of the recording. */
#pragma once

#include <hodo/read.h>
#include <sys/types.h>

struct hodo_stream;
struct hodo_trace;

struct hodo_segment {
	const char *folder; /* relative to the reader's directory; the reader's, as the stream's name */
	uint32_t part; /* number of hodo_read.parts */
	bool suffixed;              /* its name is the stream's with .zst */
	struct hodo_frames *frames; /* of a compressed file, once opened */
	uint64_t disk_bytes;        /* the file's own size */
	dev_t dev;
	ino_t ino;
	uint64_t begin, end; /* where its bytes are in the stream, when it was opened: later ones are not read */
	uint64_t packets, events; /* in this walk */
	uint64_t bare_begin, bare_end; /* the longest stretch without a header, which other walks skip */
};

/* Adds a file after the others, in the trace's folder. 0 or -ENOMEM. */
int hodo_read_segment_add(struct hodo_stream *s, const struct hodo_trace *t, bool suffixed);
/* An open descriptor of the original file, or a negative errno. */
int hodo_read_segment_open(struct hodo_stream *s, struct hodo_segment *g);
/* The segment that contains off, or ends before it. NULL: the stream has no file. */
struct hodo_segment *hodo_read_segment_at(struct hodo_stream *s, uint64_t off);
/* hodo_read_segment_at(), but at the end of a segment, off moves to the next. NULL: at the end of all. */
struct hodo_segment *hodo_read_segment_enter(struct hodo_stream *s, uint64_t *off);
/* The number of parts that are not here, between that one of hodo_read.parts and the one before it in its directory. */
uint64_t hodo_read_parts_missing(const struct hodo_read *r, uint32_t part);
/* Whether a part that is not here may have a segment of the stream between the two. */
bool hodo_read_segment_missing(const struct hodo_stream *s, const struct hodo_segment *from,
			       const struct hodo_segment *to);
/* Adds the packet at hand to the figures of its part; forgets all of the stream's, which will be counted again. */
void hodo_read_segment_note(struct hodo_stream *s, struct hodo_segment *g, int64_t begin_ns);
void hodo_read_segments_forget(struct hodo_stream *s);
/* Events of the packet at hand that cannot be read are not its part's. */
void hodo_read_segment_take_back(struct hodo_stream *s, uint64_t events);
