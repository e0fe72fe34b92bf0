/* SPDX-License-Identifier: MIT */
/*
 * otlp_follow.h - sends OpenTelemetry's messages of a recording that is being written: the same spans as of the
 * finished one. One thread reads what the recorder has written, and sends it.
 *
 *   who                       writes                                        beside
 *   the recorder's threads    the recording; ticks, clock, phase            the sending thread
 *   the sending thread        pending, failed; all of what is not shared    the recorder's threads
 *
 * What they share is under `lock`, which nobody holds while waiting, reading or sending; only `stop` is a flag of
 * its own, which the HTTP client looks at while it waits. The queue between them is the recording itself
 * (read/file/follow.h): when the receiver is slow or away, more of it is unread, and neither memory nor the recorder
 * has to wait for it.
 */
#pragma once

#include <export/export.h>
#include "otlp_send.h"

#include <pthread.h>
#include <signal.h>

enum hodo_otlp_phase {
	HODO_OTLP_RECORDING,
	HODO_OTLP_LAST,     /* the rest is sent */
	HODO_OTLP_COUNTING, /* and what is left after that is counted */
	HODO_OTLP_ENDS
};

struct hodo_otlp_follow {
	/* Set by the caller before the start: sender, except its http, and otlp, except send and to. */
	struct hodo_otlp_sender sender;
	struct hodo_otlp otlp;
	bool quiet; /* nothing is to be said */

	/* What came of it, once the thread has ended; the sender knows the rest. */
	struct hodo_otlp_counts unsent;
	bool uncounted; /* unsent is not all */
	int error;      /* the recording could not be read */
	struct hodo_why why; /* what is unsent was not sent; "": it could be, later */
	int done_fd;    /* readable: the thread has ended */

	/* Shared. */
	pthread_mutex_t lock;
	pthread_cond_t news;
	volatile sig_atomic_t stop;
	uint64_t ticks;
	struct hodo_read_clock clock;
	bool fresh; /* the thread has not seen these two */
	enum hodo_otlp_phase phase;
	bool failed; /* nothing is sent any more */
	bool waits;  /* a request has failed, and is to be tried again */
	char pending[1024]; /* to be said; "": nothing */

	/* The thread's. */
	pthread_t thread;
	bool runs;
	unsigned refusals;
	int64_t said_ns;
	struct hodo_export e;
	struct hodo_callers *callers;
	struct hodo_text none;
	void *state; /* the format's */
	struct hodo_timeline *timeline;
	int read_failed;
};

/* Everything is zero except what the caller sets. headers: of requests, up to NULL; they stay the caller's. 0; -ENOSYS:
 * there is no libcurl; another negative errno. To be freed in any case. */
int hodo_otlp_follow_init(struct hodo_otlp_follow *follow, const char *const *headers);
/* dir: the recording's folder, which is there. 0 or a negative errno. */
int hodo_otlp_follow_begin(struct hodo_otlp_follow *follow, const char *dir);
/* The recorder has written all events before that time. UINT64_MAX: all events. */
void hodo_otlp_follow_reached(struct hodo_otlp_follow *follow, uint64_t ticks, const struct hodo_read_clock *clock);
/* A line for the user while the recording runs; false: there is none. */
bool hodo_otlp_follow_says(struct hodo_otlp_follow *follow, char line[sizeof(((struct hodo_otlp_follow *)0)->pending)]);
bool hodo_otlp_follow_failed(struct hodo_otlp_follow *follow);
/*
 * Ends waits of the HTTP client; a request that is on its way only if there is no more time for it: the receiver may
 * have it, and would get it twice.
 */
void hodo_otlp_follow_set(struct hodo_otlp_follow *follow, enum hodo_otlp_phase phase);
/* Waits for the thread's end. */
void hodo_otlp_follow_end(struct hodo_otlp_follow *follow);
void hodo_otlp_follow_free(struct hodo_otlp_follow *follow);

/* As hodo_read_follow_missed(). */
uint64_t hodo_otlp_follow_missed(const struct hodo_otlp_follow *follow, uint32_t *processes);
