/* SPDX-License-Identifier: MIT */
/*
 * parts.h - how a recording is divided: into one directory, or parts, each itself a complete recording; and
 * its limits.
 *
 *   DIR/COMM-PID/…             no parts
 *   DIR/part-0001/COMM-PID/…   parts; the last one is being written
 *
 * Whatever happens to the recorder, all parts except the last are complete: docs/design/recorder.md.
 */
#pragma once

#include <record/recorder.h>

/* Makes the first part, if the recording has parts. 0 or negative errno. */
int hodo_parts_open(struct hodo_recorder *s);

/*
 * Before a packet of that many bytes: whether to begin another part; whether the packet may be written at
 * all. If packets that other threads are writing decide, waits for them (hodo_drain_alone()): they may turn
 * out smaller.
 */
bool hodo_parts_filled(struct hodo_recorder *s, uint64_t bytes);
bool hodo_parts_room(struct hodo_recorder *s, uint64_t bytes);
/* Afterwards: its actual size; err: 0, or why the packet could not be written. */
void hodo_parts_wrote(struct hodo_recorder *s, uint64_t bytes, uint64_t events, int err);

/* Whether it is time for another part. */
bool hodo_parts_due(struct hodo_recorder *s, int64_t now_ns);
/*
 * Another part, in three steps: makes its directory, or fails with a negative errno; gives it its name when
 * the folders in the newest part are complete, or if that fails returns false, and the newest continues;
 * begins it.
 */
int hodo_parts_prepare(struct hodo_recorder *s);
bool hodo_parts_name(struct hodo_recorder *s, int fd);
void hodo_parts_begin(struct hodo_recorder *s, int fd);

/* The folder of a process in the newest part is complete. held: its metadata, or an empty text if that is on disk.
 * False: too much is held, it must go to disk. */
bool hodo_parts_folder_done(struct hodo_recorder *s, const char *dir, const struct hodo_text *held);

/* The clock is fitted over the whole recording: gives it to all folders. */
void hodo_parts_complete(struct hodo_recorder *s);

void hodo_parts_close(struct hodo_recorder *s);
