/* SPDX-License-Identifier: MIT */
/*
 * recover.h - makes readable what a dead process, or an interrupted recording, left.
 *
 * The source is never changed. Everything in it may be damaged or hostile.
 */
#ifndef HODO_RECORD_RECOVER_H
#define HODO_RECORD_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring_reader.h"

enum hodo_recover_kind {
	HODO_RECOVER_FILE,       /* of a flight recorder, or a snapshot of one */
	HODO_RECOVER_FLIGHTS,    /* a directory of such files */
	HODO_RECOVER_RECORDING,  /* a recording, or a process's folder of one */
};

struct hodo_recover {
	int out_fd; /* directory of the recording that is made (hodo_out_dir_open()); stays the caller's */
	/* Takes what the user should know: one printable line without newline. */
	void (*report)(void *arg, const char *line);
	void *arg;
	/* So far. */
	uint32_t processes; /* folders made */
	uint32_t running;   /* of them, of processes that run still */
	uint32_t failed;    /* files and folders of which nothing could be made */
	uint64_t events, bytes;
	uint64_t torn; /* events of interrupted recordings that were not on disk as a whole */
	struct hodo_ring_lost lost;
};

/* What stands at path. 0, or a negative errno and a line in error. */
int hodo_recover_kind(const char *path, enum hodo_recover_kind *kind, char *error, size_t size);

/* Adds what stands at path. 0, or a negative errno and a line in error if it cannot even be opened. */
int hodo_recover_add(struct hodo_recover *r, const char *path, enum hodo_recover_kind kind, char *error, size_t size);

/* For the parts of it: reports to the user. */
void hodo_recover_report(struct hodo_recover *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* recover_recording.c: an interrupted recording in the directory fd, called path. */
int hodo_recover_recording(struct hodo_recover *r, int fd, const char *path, char *error, size_t size);
/* Whether the directory has folders with metadata of ours, parts or snapshots in it. */
bool hodo_recover_is_recording(int fd);

#endif
