/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - what the parts of a recording share.
 */
#pragma once

#include <base/clock.h>
#include <base/map.h>
#include <base/text.h>

#include "clock.h"
#include <record/ring/drain.h>
#include "recording.h"
#include <record/ring/give_back.h>
#include "watch.h"

struct hodo_connection;
struct hodo_planning;
struct hodo_process;
struct hodo_server;
struct hodo_switches;

/* join/images.c */
struct hodo_image_came {
	uint32_t pid;
	uint64_t number; /* of the latest */
};

struct hodo_images_awaited {
	struct hodo_map came;    /* of struct hodo_image_came, by pid */
	uint64_t number;         /* of images that have connected */
	struct hodo_map awaited; /* those whose place in the process's memory is free again */
	uint32_t next;           /* those below it are examined next */
	uint64_t lost;           /* images of which nothing is known */
	int64_t looked_ns;
};

/* join/joining.c */
struct hodo_joining {
	struct hodo_connection *first, **last;
	uint32_t n;
	uint32_t strangers; /* of them */
	int answers_fd; /* epoll: of all who wait for an answer */
};

/* join/second_socket.c */
struct hodo_second_socket {
	struct hodo_watch watch; /* of the listening socket */
	bool watched;
	int fd;
	uint64_t hello_key;  /* which a process must show */
	uint64_t answer_key; /* which the recorder shows */
	uint32_t refused;    /* in the present time window, for lack of the key */
	int64_t window_ns;   /* its end */
	char suffix[HODO_RECORDER_SUFFIX + 1]; /* #NAME-KEY; empty until it is open */
};

/* The contents of one part, or without parts, of the recording. */
struct hodo_recorded_part {
	uint32_t number;        /* 0: no parts */
	uint64_t bytes, events; /* of packets on disk */
	/* Folders that are complete but for the final clock: each one's path below the recording's directory, and its
	 * metadata, empty if that is on disk; both end in NUL. */
	struct hodo_text done;
};

struct hodo_parts {
	int fd;                   /* where process folders are made; -1: nowhere */
	struct hodo_recorded_part *part;   /* existing parts, oldest first; the last one is being written */
	uint32_t n, room;
	uint64_t events;          /* of them all */
	uint64_t promised;        /* bytes of packets being written */
	int64_t begun_ns;         /* the newest */
	int64_t retry_ns;         /* when to retry after a new one could not be made */
	bool no_room;             /* the disk was full at the last try to write a packet */
	bool reported;                /* that a part cannot be removed */
};

/* write/snapshots.c */
struct hodo_snapshots_made {
	bool failed, too_many;   /* reported once */
	bool ended;              /* a trigger has ended the recording */
	bool crashed;            /* some process has, if crashes are of interest */
	struct hodo_text done;   /* folders that get the final clock */
	bool command_ended;
	int command_status;      /* from wait() */
};

/* What each thread that drains rings owns. */
struct hodo_recorder_thread {
	uint8_t *copy; /* packet_size bytes */
	struct hodo_compressor *compressor; /* NULL: streams are not compressed */
};

struct hodo_recorder {
	struct hodo_recorder_config config;
	char hostname[65];
	char release[65]; /* of the kernel */
	int epoll_fd;
	struct hodo_server *server; /* NULL once stopped */
	struct hodo_joining joining;
	struct hodo_images_awaited images;
	struct hodo_second_socket second_socket;
	struct hodo_way_in *joins;    /* way_in.c */
	struct hodo_process *processes;
	struct hodo_switches *switches; /* NULL: not recorded, or by the kernel's module */
	struct hodo_parts parts;
	struct hodo_snapshots_made snapshots;
	bool withholding; /* nothing of a process goes to disk before that is decided */
	/* A process is about to be finished: whether to write it. */
	bool (*process_ends)(struct hodo_process *p);
	struct hodo_drain *drain; /* NULL: there is one thread */
	struct hodo_planning *planning; /* NULL: no plan was requested */
	struct hodo_recorder_thread thread[HODO_DRAIN_THREADS_MAX]; /* the first is the recorder's */
	uint32_t threads;
	uint32_t busy;            /* rings with enough work for a thread in the last round */
	uint32_t cpus;

	enum hodo_clock clock;
	bool clock_chosen; /* a process knows it */
	bool clock_fitted;
	struct hodo_clock_sample clock_first;
	struct hodo_read_clock clock_map; /* provisional until the end */
	struct hodo_wall wall_first, wall_last; /* when the clock was sampled first, and fitted last */

	int reserve_fd;      /* unnamed file that reserves room for metadata on a full disk; -1: none */
	uint64_t reserve_size;
	bool write_failed;   /* reported once */
	bool unrecorded_noted; /* in a folder's metadata */
	pid_t command;
	uint32_t live;
	struct hodo_recorder_stats total; /* of processes that have ended */

	struct hodo_give_back_round give_back;
	int64_t interval_ns;
	int64_t active_ns;  /* when events last arrived */
	int64_t chores_ns;  /* when housekeeping was last done */
	int64_t opened_ns;  /* when open packets were last written */
	uint64_t reached;   /* the time up to which ops.reached was told that all is on disk */
	int64_t idle_ns;    /* since when nothing is recorded; 0: something is */
	int64_t looked_ns;  /* when we last searched for processes yet to come */
	bool straggler;
};

int hodo_recorder_watch(struct hodo_recorder *s, int fd, struct hodo_watch *w);

/*
 * Chooses the clock; tsc: the process can read it. -EOPNOTSUPP if the recording already uses one that it
 * cannot.
 */
int hodo_recorder_choose_clock(struct hodo_recorder *s, bool tsc);
const struct hodo_read_clock *hodo_recorder_clock_map(struct hodo_recorder *s);
/* Converts a time to ticks; before the clock is fitted, to a few per cent, without waiting. */
uint64_t hodo_recorder_ticks_in(const struct hodo_recorder *s, uint64_t ns);

/* The most events that can have been over their rate so far: refusing one takes at least a nanosecond. */
uint64_t hodo_recorder_limited_most(const struct hodo_recorder *s);

void hodo_recorder_fit_clock(struct hodo_recorder *s);

/* Reports, once, that output cannot be written. */
void hodo_recorder_write_failed(struct hodo_recorder *s, const char *dir, const char *file, int err);

/*
 * If err means that descriptors have run out: closes stream files of all processes. make_room() also releases the
 * reserved room if the disk is full. Returns whether that helped: then try again.
 */
bool hodo_recorder_free_files(struct hodo_recorder *s, int err);
bool hodo_recorder_make_room(struct hodo_recorder *s, int err);

/* Reserves the room again, before a packet takes it: at least that many bytes, if available. */
void hodo_recorder_take_reserve(struct hodo_recorder *s, uint64_t bytes);

/* Replaces metadata; on a full disk in the reserved room. text NULL: completes what is there, or held. */
int hodo_recorder_write_metadata(struct hodo_recorder *s, int dirfd, const struct hodo_text *text, const char *held);

/*
 * Opens a directory in the recording's, freeing descriptors if necessary: its descriptor or negative errno.
 */
int hodo_recorder_open_dir(struct hodo_recorder *s, const char *name);

/* Gives the final clock to folders (struct hodo_recorded_part), and frees the text. */
void hodo_recorder_complete(struct hodo_recorder *s, struct hodo_text *folders);

/*
 * Fills in what is the same for everything recorded, and a new uuid; salt: in case there are no
 * random numbers.
 */
void hodo_config_describe(const struct hodo_recorder *s, uint64_t salt, struct hodo_flight *f);

/*
 * Fills in the configuration message m for this recorder, with these patterns. kernel: for the
 * kernel. Returns the bytes in use.
 */
size_t hodo_config_make(const struct hodo_recorder *s, const struct hodo_pattern_list *patterns, const uint8_t uuid[16],
			const struct hodo_context_config *context, bool kernel, struct hodo_msg_config *m);
