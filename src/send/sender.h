/* SPDX-License-Identifier: MIT */
/*
 * sender.h - sends the parts of a recording while it goes on: a process beside the recorder, which waits for nothing.
 *
 * A part that the recorder has finished belongs to the sender. It packs it into the spool, removes the directory, and
 * sends the spool, oldest first, for as long as that takes; where the link is down it tries again, after waits that
 * grow from a second to five minutes.
 *
 * It is a process, and no thread, for the sake of the recorder's epoll: a descriptor that the recorder closes is still
 * reported as long as a child that was just forked has it, too, and this starts children at any time. It is forked
 * before the recorder has any, and ends with the recorder.
 *
 *	who         calls                           beside
 *	recorder    hodo_sender_part(), …           the sender
 *	sender      its loop                        the recorder
 *
 * They share atomic numbers, and a descriptor that wakes the sender. The numbers need no order among each other but
 * one: `complete` is final when `ending` is set, which both sides leave sequentially consistent. All else the sender
 * writes before it ends, and the recorder reads afterwards.
 */
#pragma once

#include <base/why.h>
#include <record/record.h>

#include "spool.h"
#include "target.h"

struct hodo_sender;

struct hodo_sender_config {
	struct hodo_send_target target;
	const char *recording; /* the directory with the parts */
	uint64_t backlog;      /* most bytes in the spool; beyond that, the oldest are dropped */
	uint64_t keep_bytes, keep_minutes; /* of this host's parts at the receiver; 0: all */
	uint32_t keep;         /* so many of the newest parts also stay in the recording */
	int level;             /* of compression */
	/* NULL, or: adds what a part, whose directory is given, needs elsewhere. Called by the sender. */
	void (*prepare)(void *arg, const char *part);
	void *prepare_arg;
	struct hodo_reporter reporter; /* called by the sender */
};

struct hodo_sender_totals {
	uint64_t sent, sent_bytes;       /* parts that are at the receiver */
	uint64_t unsent, unsent_bytes;   /* parts in the spool */
	uint64_t dropped, dropped_bytes; /* parts that gave way to newer ones */
	uint64_t unpacked;               /* parts that could not be packed, and are still in the recording */
	uint64_t sent_own;               /* of those sent, the ones of this recording */
	char spool[PATH_MAX];
	char where[160];                 /* of this recording below the target: HOST/RECORDING */
};

/*
 * Opens the spool, RECORDING.unsent, and begins to send what is in it. Call it before there are threads, and before
 * descriptors are put into an epoll. 0, or a negative errno and a line for the user.
 */
int hodo_sender_begin(struct hodo_sender **out, const struct hodo_sender_config *config, struct hodo_why *why);
/* All parts up to that number are complete. */
void hodo_sender_part(struct hodo_sender *s, uint32_t number);
/* No more parts come: the last one has this number. The sender ends when everything is sent. */
void hodo_sender_finish(struct hodo_sender *s, uint32_t last);
/* Readable when it has ended. */
int hodo_sender_fd(const struct hodo_sender *s);
/* Makes it end soon, whatever is unsent. */
void hodo_sender_stop(struct hodo_sender *s);
/* Waits for its end, and frees. */
void hodo_sender_end(struct hodo_sender *s, struct hodo_sender_totals *totals);

/* The name of this machine, and of a recording that begins now, as words of a path. */
void hodo_send_host(char host[65]);
void hodo_send_recording(char name[65], const char *path, int64_t begin_ns, uint64_t number);
