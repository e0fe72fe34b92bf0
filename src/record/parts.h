/* SPDX-License-Identifier: MIT */
/*
 * parts.h - how much is written: the whole recording in one directory, or in
 * parts, each a complete recording of its own; and where it ends.
 *
 *   DIR/COMM-PID/…             no parts
 *   DIR/part-0001/COMM-PID/…   parts; the last one is being written
 *
 * Whatever becomes of the recorder, all parts but the last are complete: docs/design/recorder.md.
 */
#ifndef HODO_RECORD_PARTS_H
#define HODO_RECORD_PARTS_H

#include <base/text.h>

struct hodo_session;

/* What one part holds; where there are none, the recording. */
struct hodo_part {
	uint32_t number;        /* 0: no parts */
	uint64_t bytes, events; /* of packets on disk */
	struct hodo_text done;  /* folders that are complete but for the final clock, below the recording's directory */
};

struct hodo_parts {
	int fd;                   /* where process folders are made; -1: nowhere */
	struct hodo_part *part;   /* those that are there, the oldest first; the last one is being written */
	uint32_t n, room;
	uint64_t events;          /* of them all */
	uint64_t promised;        /* bytes of packets that are being written */
	int64_t begun_ns;         /* the newest */
	int64_t retry_ns;         /* a new one could not be made: not before then */
	bool no_room;             /* the disk was full when a packet was to be written last */
	bool reported;                /* that a part cannot be removed */
};

/* Makes the first part, if there are to be any. 0 or negative errno. */
int hodo_parts_open(struct hodo_session *s);

/*
 * Before a packet of so many bytes: whether another part is to be begun; whether it may be written at all. Where the
 * packets that other threads are writing decide, these are waited for (hodo_drain_alone()): they may come to less.
 */
bool hodo_parts_filled(struct hodo_session *s, uint64_t bytes);
bool hodo_parts_room(struct hodo_session *s, uint64_t bytes);
/* Afterwards: what it came to; err: 0, or why the packet could not be written. */
void hodo_parts_wrote(struct hodo_session *s, uint64_t bytes, uint64_t events, int err);

/* Whether it is time for another part. */
bool hodo_parts_due(struct hodo_session *s, int64_t now_ns);
/*
 * Another part, in three steps: a directory for it, or a negative errno where there is none now; its name, when the
 * folders in the newest one are complete, unless it cannot be had: false, and the newest goes on; and its begin.
 */
int hodo_parts_prepare(struct hodo_session *s);
bool hodo_parts_name(struct hodo_session *s, int fd);
void hodo_parts_begin(struct hodo_session *s, int fd);

/* The folder of a process in the newest part is complete. */
void hodo_parts_folder_done(struct hodo_session *s, const char *dir);

/* The clock is fitted over the whole recording: all folders get it. */
void hodo_parts_complete(struct hodo_session *s);

void hodo_parts_close(struct hodo_session *s);

#endif
