/* SPDX-License-Identifier: MIT */
/*
 * identity.h - which recording it is, and which events it has.
 *
 * A process image has a uuid of its own in each recording, and its buffers number their events (`events_before` in
 * packets' headers). Neither changes where a recording is copied, cut in parts, merged, recovered or packed, so an
 * event is the same as another one if uuid, stream and number are.
 */
#pragma once

#include <hodo/read.h>

/* A number that recordings, parts of one and snapshots of one do not share, but by accident; a merge has another one.
 * One that goes on, or is copied, keeps it. */
uint64_t hodo_read_identity(const struct hodo_read *reader);

/* Events of a stream: the numbers from `from` up to, not including, `to`. */
struct hodo_read_numbers {
	const struct hodo_read_process *process;
	const struct hodo_read_stream *stream;
	uint64_t from, to;
};

/*
 * Tells which events there are, process by process, as the headers of packets say; of one that its file is too short
 * for, none. Of a stream with very many gaps the last ones count as events. What found() returns but 0 ends it, and is
 * returned; 0, -EIO or -ENOMEM.
 */
int hodo_read_numbers(struct hodo_read *reader, int (*found)(void *data, const struct hodo_read_numbers *numbers),
		      void *data);
