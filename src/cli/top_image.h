/* SPDX-License-Identifier: MIT */
/* top_image.h - hodo top: what is kept of each process image that is counted. */
#ifndef HODO_CLI_TOP_IMAGE_H
#define HODO_CLI_TOP_IMAGE_H

#include "top.h"

#include <record/record.h>

#define HEADER ((uint32_t)sizeof(struct hodo_packet))

/* What has been counted of a ring before its time. */
struct hodo_top_place {
	uint64_t packet; /* the last one that was looked at while it was open: its sequence number */
	uint32_t bytes;  /* of its events, counted so far */
	uint64_t lost;   /* events that were refused, counted so far */
};

/* What is known of an event's id. */
struct hodo_top_id {
	uint64_t limited; /* events over its rate, in the model or not ours */
	uint32_t row;     /* the model's, HODO_TOP_NONE: not known */
};

/* One process image. */
struct hodo_top_image {
	struct hodo_top_image *next;
	struct hodo_top_counter *counter;
	const struct hodo_process *process; /* NULL: it has ended */
	uint8_t uuid[16];
	uint32_t pid, vpid;
	struct hodo_walk_tally *tally; /* by event id, not yet in the model */
	struct hodo_top_id *id;        /* by event id */
	uint32_t ids;                  /* entries of these */
	uint32_t events;               /* of the catalogue: looked at so far */
	struct hodo_top_place *place;  /* by ring */
	uint32_t tid, thread;          /* the last one that was looked up */
};

struct hodo_top_counter {
	struct hodo_top_model *model;
	struct hodo_top_image *images;
	struct hodo_top_watch *watches;
};

/* The image of a process, made if need be; NULL: out of memory. */
struct hodo_top_image *hodo_top_image_of(struct hodo_top_counter *c, const struct hodo_process *p);
void hodo_top_image_free(struct hodo_top_image *im);
/* Rows for events that are new. */
void hodo_top_see_events(struct hodo_top_image *im, const struct hodo_process *p);
/* Threads that were counted; they may have taken other names. */
void hodo_top_name_threads(struct hodo_top_image *im, const struct hodo_process *p);
void hodo_top_add_states(struct hodo_top_image *im, const struct hodo_process *p);
/* Events that were over their rate since the last time; count: they are for the model. */
void hodo_top_add_limited(struct hodo_top_image *im, const struct hodo_process *p, bool count);
/* Counts events of a ring. Returns how many of the len bytes they take. */
uint32_t hodo_top_count_events(struct hodo_top_image *im, const struct hodo_process *p, uint32_t ring,
			       const uint8_t *body, uint32_t len);
/* What was counted by id goes to the rows of the names. */
void hodo_top_add_tallies(struct hodo_top_image *im);
uint32_t hodo_top_cpu_number(const struct hodo_process *p, uint32_t ring);

/* top_watch.c: brings what is watched up to date; how many of them go on. */
uint32_t hodo_top_watch_refresh(struct hodo_top_counter *c);
void hodo_top_watch_lost(const struct hodo_top_counter *c, struct hodo_lost *lost, uint64_t *limited);

#endif
