/* SPDX-License-Identifier: MIT */
/* stream.h - a stream of packets: where a walk of it is (stream.c), and its next event (order.c). */
#pragma once

#include "clock.h"
#include "layout.h"
#include "segments.h"
#include "trace.h"
#include "warn.h"

#include <read/event/losses.h>

enum hodo_stream_warning {
	WARN_SHORT = 1u << 0,
	WARN_HEADER = 1u << 1,
	WARN_EVENT = 1u << 2,
	WARN_TIME = 1u << 3,
	WARN_ORDER = 1u << 4,
	WARN_COUNT = 1u << 5,
	WARN_CPU = 1u << 6,
	WARN_DISCARDED = 1u << 7,
	WARN_FILE = 1u << 8,
	WARN_EFFORT = 1u << 9,
	WARN_FRAMES = 1u << 10,
};

struct hodo_stream {
	struct hodo_read_stream pub;
	struct hodo_trace *trace;
	struct hodo_segment *segments;       /* one, or one for each part of the recording */
	uint32_t nsegments;
	uint32_t at;                         /* the last segment used */
	uint64_t file_bytes;                 /* of all of them, before compression */
	uint32_t warned;                     /* enum hodo_stream_warning */
	uint32_t order;                      /* index among all streams: decides between equal times */
	struct hodo_read_lost lost_by_cause; /* from the metadata */
	bool lost_known;
	bool has_begin; /* pub.begin_ns is set */
	bool lost_before; /* events are known to be overwritten before the first packet */
	uint64_t first;   /* number of its first event; 0 also if there is none */
	struct hodo_loss_walk loss;
	struct hodo_losses losses; /* found so far, in this walk */

	/* Where the walk is: the packet, and the part of the file that is in memory. */
	int fd;           /* -1: none is open */
	uint32_t fd_of;   /* its segment */
	bool keep_open;   /* else it is opened for each read */
	uint32_t walked;  /* the segment of the last header; UINT32_MAX: none */
	uint8_t *buf;
	size_t buf_room;
	size_t window; /* bytes to read at a time */
	uint64_t buf_off;
	size_t buf_len;
	uint64_t next_off; /* next packet's header */
	struct hodo_packet head;
	uint64_t body_off, body_end; /* in the file */
	bool cut;                    /* the file ends in this packet */
	uint64_t read_bytes;         /* from the file, in this walk */
	uint64_t packet_events;      /* found in this packet */
	uint64_t events_next;        /* expected events_before of the next header */
	uint64_t events_gap;         /* events missing between headers: overwritten, unwritten or damaged */
	uint64_t hole;               /* of these, before this packet: in packets that no longer have a header */
	uint64_t holes;              /* sum of these */
	uint64_t seq;                /* the packet's number before */
	uint64_t discarded;          /* the last header's, and those of the segments before */
	uint64_t discarded_before;   /* the segments before */
	struct hodo_cursor cursor;     /* after the last record of this packet */
	uint64_t time_limit;         /* latest valid time in this packet */

	/* The next event in this stream (order.c). */
	const uint8_t *p, *avail; /* the rest of the packet in memory; NULL: none yet */
	const uint8_t *event;
	uint32_t event_id;
	uint32_t event_bytes;
	uint64_t event_ticks;
	uint32_t event_tid;
	struct {
		uint64_t addr;
		uint32_t frame;
	} __attribute__((packed)) call; /* payload of an event that was a call or return */
	int64_t event_ns;
	bool started;
	bool rests; /* all that there is has been read, and more may come (follow.c) */
	bool skip; /* this packet's events are not wanted */
	struct hodo_clock_near near;
	/* The last thread looked up: its tid, and trace->names.changes above it. */
	uint64_t known_as;
	uint32_t pid;
	const char *comm;
	char idle[24]; /* the kernel's: name of each CPU's idle thread */
};

/* A new one; NULL: no memory. */
struct hodo_stream *hodo_read_stream_new(struct hodo_trace *t, const char *name);
void hodo_read_streams_sort(struct hodo_trace *t); /* cpu0, cpu1 … cpu10, then the others */
/* Searches the first n, which are sorted; NULL: none with that name. */
struct hodo_stream *hodo_read_streams_find(const struct hodo_trace *t, uint32_t n, const char *name);
/* Finds the stream, or adds one without a file; NULL: no memory, or too many. */
struct hodo_stream *hodo_read_trace_stream(struct hodo_trace *t, const char *name);

/* The offset in its file. */
unsigned long long hodo_read_stream_place(struct hodo_stream *s, uint64_t off);

/* Checks the file and its first header. 0, or 1 if it is not a stream (warned). */
int hodo_read_stream_probe(struct hodo_stream *s);
/* Publishes that header's contents, once the metadata is read. */
void hodo_read_stream_settle(struct hodo_stream *s);
void hodo_read_stream_free(struct hodo_stream *s);
/* Starts a walk: all figures of pub from packets on are zero again. window bytes are read at a time. */
void hodo_read_stream_start(struct hodo_stream *s, size_t window, bool keep_open);
/* Ends a walk (frees the memory) and completes pub. May be called twice. */
void hodo_read_stream_finish(struct hodo_stream *s);
/* Steps to the next packet that has a sound header. 1, 0 at the end, -EIO, -ENOMEM. */
int hodo_read_stream_packet(struct hodo_stream *s);
/* The offset in the stream of a byte in memory. */
static inline uint64_t hodo_read_stream_offset(const struct hodo_stream *s, const uint8_t *p)
{
	return s->buf_off + (uint64_t)(p - s->buf);
}
/* Ensures that the packet's next event is completely in memory, at s->p. 1; 0: there is none, or it is
 * broken; or a negative errno. */
int hodo_read_stream_event(struct hodo_stream *s);
/* At the present end of what is still being written, frees what the rest of the walk does not need. */
void hodo_read_stream_rest(struct hodo_stream *s);
/* At the end of each packet: compares the events found with the header's. */
void hodo_read_stream_packet_end(struct hodo_stream *s);
/* Warns about the current file; once: enum hodo_stream_warning. */
#define hodo_read_stream_warn(s, once, ...)                                                                  \
	hodo_read_warn((s)->trace->reader, &(s)->warned, once,                                               \
		       (s)->nsegments ? (s)->segments[(s)->at].folder : (s)->trace->folder, (s)->pub.name, __VA_ARGS__)
