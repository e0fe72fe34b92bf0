/* SPDX-License-Identifier: MIT */
/*
 * recover.h - makes readable what a dead process, or an interrupted recording, left.
 *
 * The source is never changed. Everything in it may be damaged or hostile.
 */
#ifndef HODO_RECORD_RECOVER_H
#define HODO_RECORD_RECOVER_H

#include "message.h"
#include "ring_reader.h"

enum hodo_recover_kind {
	HODO_RECOVER_FILE,       /* of a flight recorder, or a snapshot of one */
	HODO_RECOVER_FLIGHTS,    /* a directory of such files */
	HODO_RECOVER_RECORDING,  /* a recording, or a process's folder of one */
};

struct hodo_recover {
	int out_fd; /* directory of the recording that is made (hodo_out_dir_open()); stays the caller's */
	struct hodo_reporter reporter;
	/* So far. */
	uint32_t processes; /* folders made */
	uint32_t running;   /* of them, of processes that run still */
	uint32_t failed;    /* files and folders of which nothing could be made */
	uint64_t events, bytes;
	uint64_t torn; /* events of interrupted recordings that were not on disk as a whole */
	struct hodo_lost lost;
};

/* What stands at path. 0, or a negative errno and a line in error. */
int hodo_recover_kind(const char *path, enum hodo_recover_kind *kind, char *error, size_t size);

/* Adds what stands at path. 0, or a negative errno and a line in error if it cannot even be opened. */
int hodo_recover_add(struct hodo_recover *r, const char *path, enum hodo_recover_kind kind, char *error, size_t size);

/* recover_recording.c: an interrupted recording in the directory fd, called path. */
int hodo_recover_recording(struct hodo_recover *r, int fd, const char *path, char *error, size_t size);
/* Whether the directory has folders with metadata of ours, parts or snapshots in it. */
bool hodo_recover_is_recording(int fd);

/* What one stream file of an interrupted recording came to. */
struct hodo_recover_stream {
	uint64_t events, bytes; /* written */
	uint64_t torn;          /* events that packets count and that are not there as a whole */
	uint64_t ts_begin;      /* of the first packet, ticks; UINT64_MAX: none */
	uint32_t repaired;      /* packets that were cut, or left out */
};

/*
 * recover_stream.c: copies name from the directory in to the directory out: whole packets, and of one that
 * is not whole the events that are. What is compressed is compressed again. 0; -ENOENT if it is no regular file;
 * another negative errno.
 */
int hodo_recover_stream(int in, int out, const char *name, const uint8_t uuid[16],
			const struct hodo_read_layouts *table, struct hodo_recover_stream *result);

#endif
