/* SPDX-License-Identifier: MIT */
/* process_impl.h - what record does with a process. */
#pragma once

#include "process.h"
#include "recorder.h"

/* Its memory is the module's, and memfd the device. */
static inline bool hodo_process_of_module(const struct hodo_process *p)
{
	return p->kernel && !p->ours;
}

/*
 * Takes over a process whose memory is memfd, if it is valid; the process owns both descriptors from then on.
 * 0; -EPROTO and a reason in why if the memory is not valid; another negative errno.
 */
int hodo_process_start(struct hodo_recorder *s, const struct hodo_process_id *id, int pidfd, int memfd,
		       const char **why);

/*
 * The same in two steps, for callers that map the memory: everything except mapping (the process owns the
 * descriptors; NULL: no memory, and they are closed), then adding it to the recorder once shm and layout are
 * set: 0 or -ENOMEM.
 */
struct hodo_process *hodo_process_new(struct hodo_recorder *s, const struct hodo_process_id *id, int pidfd, int memfd);
int hodo_process_join(struct hodo_process *p);
void hodo_process_guard(struct hodo_process *p); /* names it to the recording's guard once, if it asks for that */

/* Reports something about it to the user. */
#define hodo_process_report(p, format, ...)                                                             \
	hodo_report(&(p)->recorder->config.reporter, "%s[%u]: " format, (p)->id.flight.comm, (p)->id.vpid, \
		    ##__VA_ARGS__)

/* In one of the recorder's threads: reads closed packets of ring active[i]; returns how many 16ths were in use. */
int hodo_process_poll(struct hodo_process *p, uint32_t i, uint32_t thread);

/* Also writes the contents of open packets, so that they are on disk whatever happens to the recorder. Returns up to
 * which time (in ticks) everything is, that was committed when this was called; UINT64_MAX: all of it. */
uint64_t hodo_process_take_open(struct hodo_process *p);
/* folder.c: writes the names of threads that have come, if there are any. */
void hodo_process_name_new_threads(struct hodo_process *p);

/* Whether the process has declared that it writes no more; if so, reports that to the user. */
bool hodo_process_has_ended(const struct hodo_process *p);
void hodo_process_tell_ended(const struct hodo_process *p);
void hodo_process_close_line(struct hodo_process *p);

/* Tells the process that nobody reads any more: its events are off. */
void hodo_process_stop(struct hodo_process *p);
/* See ring_size_hint.h. */
static inline uint64_t hodo_process_room(const struct hodo_process *p, const struct hodo_ring_reader *r)
{
	return hodo_ring_size_hint_bytes(&r->size_hint, p->layout.ring_size, p->layout.packet_size);
}

/* Reads the rest, completes the folder, and frees the process. alive: the process may still write. */
void hodo_process_finish(struct hodo_process *p, bool alive);

void hodo_process_free(struct hodo_process *p);

/* Events committed and refused so far, for display. */
void hodo_process_count(const struct hodo_process *p, struct hodo_recorder_stats *stats);

/* The image of this pid that is being recorded, or NULL. */
struct hodo_process *hodo_process_find(struct hodo_recorder *s, pid_t pid);

/* folder.c: of a process that joins. */
void hodo_process_make_folder(struct hodo_process *p);
/* folder.c: writes the metadata; ended: the final one, of a process that has exited or is let go. 0 or
 * negative errno, reported. */
int hodo_process_metadata(struct hodo_process *p, bool ended);
/* folder.c: writes a packet, or counts its events as unwritten. May switch to another folder first. */
void hodo_process_write(struct hodo_process *p, struct hodo_stream_file *stream, const struct hodo_packet *h,
			const uint8_t *body);
/* folder.c: losses after a stream's last packet get their own packet, on a full disk in the reserved room. */
void hodo_process_settle(struct hodo_process *p, struct hodo_process_ring *r);
/* folder.c: begins another part of the recording, for all processes, if it is time. */
void hodo_folders_step(struct hodo_recorder *s, int64_t now_ns);

/* own_stream.c: into the process's own stream; the metadata must name their events already. */
struct hodo_own_stream;
void hodo_process_write_profile(struct hodo_own_stream *own);
void hodo_process_write_open(struct hodo_own_stream *own);

/* threads.c: sets its name from now on. pid: of its process, in the kernel's folder. */
void hodo_process_name_thread(struct hodo_process *p, uint32_t tid, uint32_t pid, const char *comm);
/* threads.c: names all present threads. */
void hodo_process_name_threads(struct hodo_process *p);

/*
 * adopt.c: the connection fd becomes the lifeline of a process whose recording has just begun, and its
 * threads get their names. 0, or a negative errno with fd closed: its recording ends.
 */
int hodo_adopt(struct hodo_process *p, int fd);

/* adopt.c: finishes processes that have ended their recording, or that another image has replaced. */
void hodo_adopt_check(struct hodo_recorder *s, int64_t now_ns);

/* adopt.c: ends the recording of adopted processes and waits, at most a second, until none of them writes any
 * more. */
void hodo_adopt_end(struct hodo_recorder *s);
