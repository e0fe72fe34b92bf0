/* SPDX-License-Identifier: MIT */
/*
 * recover.h - makes readable what a dead process, or an interrupted recording, left.
 *
 * The source is never changed. Everything in it may be damaged or hostile.
 */
#pragma once

#include <base/why.h>
#include <record/ring/ring_reader.h>

enum hodo_recover_kind {
	HODO_RECOVER_FILE,       /* of a flight recorder, or a snapshot of one */
	HODO_RECOVER_FLIGHTS,    /* a directory of such files */
	HODO_RECOVER_RECORDING,  /* a recording, or a process's folder of one */
};

struct hodo_recover {
	int out_fd; /* directory of the new recording (hodo_out_dir_open()); the caller keeps it */
	struct hodo_reporter reporter;
	/* So far. */
	uint32_t processes; /* made: one in several parts of a recording is one */
	uint32_t running;   /* those of processes that are still running */
	uint32_t failed;    /* files and folders that could not be recovered */
	uint64_t events, bytes;
	uint64_t torn; /* events of interrupted recordings that were incomplete on disk */
	struct hodo_lost lost;
};

/* What is at path. 0, or a negative errno and a line in why. */
int hodo_recover_kind(const char *path, enum hodo_recover_kind *kind, struct hodo_why *why);

/* Adds what is at path. 0, or a negative errno and a line in why if it cannot even be opened. */
int hodo_recover_add(struct hodo_recover *r, const char *path, enum hodo_recover_kind kind, struct hodo_why *why);

/* recover_recording.c: an interrupted recording in the directory fd, called path. */
int hodo_recover_recording(struct hodo_recover *r, int fd, const char *path, struct hodo_why *why);
/* Whether the directory contains folders with our metadata, parts or snapshots. */
bool hodo_recover_is_recording(int fd);

/* The result of recovering one stream file of an interrupted recording. */
struct hodo_recover_stream {
	uint64_t events, bytes; /* written */
	uint64_t torn;          /* events that packets count but that are incomplete */
	uint64_t ts_begin;      /* of the first packet, ticks; UINT64_MAX: none */
};

/*
 * recover_stream.c: copies a stream of the process to the directory out: whole packets, and the whole events of an
 * incomplete one. Compressed data is compressed again. 0 or a negative errno.
 */
int hodo_recover_stream(const struct hodo_read_process *process, const struct hodo_read_stream *from, int out,
			struct hodo_recover_stream *result);
