/* SPDX-License-Identifier: MIT */
/*
 * session.h - what the parts of a recording share.
 */
#ifndef HODO_RECORD_SESSION_H
#define HODO_RECORD_SESSION_H

#include <base/clock.h>

#include "clock.h"
#include "parts.h"
#include "recording.h"
#include "snapshots.h"
#include "names.h"

struct hodo_process;
struct hodo_server;
struct hodo_join;

/* What epoll's data points to. */
struct hodo_watch {
	void (*ready)(struct hodo_watch *w, uint32_t events);
};

struct hodo_session {
	struct hodo_session_config config;
	char hostname[65];
	char release[65]; /* of the kernel */
	int epoll_fd;
	struct hodo_server *server; /* NULL once stopped */
	struct hodo_join *joins;    /* join.c */
	struct hodo_process *processes;
	struct hodo_process *finished; /* freed at the end of the step, since epoll may still name them */
	struct hodo_parts parts;
	struct hodo_snapshots_made snapshots;
	uint8_t *copy; /* packet_size bytes */
	uint32_t cpus;

	enum hodo_clock clock;
	bool clock_chosen; /* a process knows it */
	bool clock_fitted;
	struct hodo_clock_sample clock_first;
	struct hodo_clock_map clock_map; /* provisional until the end */

	int reserve_fd;      /* unnamed file that keeps room for metadata on a full disk; -1 if there is none */
	uint64_t reserve_size;
	bool write_failed;   /* reported once */
	pid_t command;
	uint32_t live;
	uint32_t warnings_refused;
	struct hodo_session_stats total; /* of what has ended */

	int64_t interval_ns;
	int64_t active_ns;  /* when events last came */
	int64_t chores_ns;  /* when housekeeping was last done */
	int64_t idle_ns;    /* since when nobody is recorded; 0: somebody is */
	int64_t looked_ns;  /* when processes to come were last looked for */
	bool straggler;
};

void hodo_session_report(struct hodo_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
int hodo_session_watch(struct hodo_session *s, int fd, struct hodo_watch *w);

/* Settles the clock; tsc: the process can read it. -EOPNOTSUPP if the recording already uses one that it cannot. */
int hodo_session_choose_clock(struct hodo_session *s, bool tsc);
const struct hodo_clock_map *hodo_session_clock_map(struct hodo_session *s);
uint64_t hodo_session_ticks(const struct hodo_session *s);
/* Ticks in a time; before the clock is fitted, to some per cent, without waiting. */
uint64_t hodo_session_ticks_in(const struct hodo_session *s, uint64_t ns);

/* Reports output that cannot be written, the first time. */
void hodo_session_write_failed(struct hodo_session *s, const char *dir, const char *file, int err);

/* Replaces metadata; on a full disk with the room that was kept for it. text NULL: only its clock lines. */
int hodo_session_write_metadata(struct hodo_session *s, int dirfd, const struct hodo_text *text);

/* Gives back the room that was kept, if err says that the disk is full. Whether there was any. */
bool hodo_session_release_reserve(struct hodo_session *s, int err);

/* Takes it again, before a packet does. */
void hodo_session_take_reserve(struct hodo_session *s);

/* Closes stream files of all processes, when descriptors have run out. */
void hodo_session_close_files(struct hodo_session *s);

#endif
