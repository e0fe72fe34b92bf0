/* SPDX-License-Identifier: MIT */
/*
 * event_walk.h - walks the events of a packet using only their sizes.
 *
 * The recorder needs no values: only whether the events fill the packet according to their count, whether
 * every id is known, and the last time stamp.
 */
#pragma once

#include <read/file/layout.h>

struct hodo_walk_result {
	uint32_t events;  /* whole events, known and in order */
	uint32_t bytes;   /* that they take */
	uint64_t ts_last; /* of the last of them; ts_begin if there is none */
	struct hodo_cursor cursor; /* behind them */
};

/*
 * Walks at most events_max events in the len bytes at body, which may change
 * meanwhile, and stops before the first that is unknown, too long, or earlier
 * than the one before it (ts_begin for the first).
 */
void hodo_walk(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len, uint64_t ts_begin,
	       uint32_t events_max, struct hodo_walk_result *result);

/* Of one event, by its id. Bytes with its header. */
struct hodo_walk_tally {
	uint64_t events, bytes;
};

struct hodo_walk_counter {
	struct hodo_walk_tally *tally;
	uint32_t size; /* entries of tally: events with a higher id stop the walk */
	/* Called for each run of events that one thread wrote. Counts exclude anchors. */
	void (*run)(void *arg, uint32_t tid, uint32_t events, uint32_t bytes);
	void *arg;
	struct hodo_cursor cursor; /* in: after the last anchor before the body; out: after the last one in it */
};

/*
 * Counts the whole events in the len bytes at body, which may change meanwhile, by id
 * and by thread, up to the first that is unknown or too long. Returns their bytes.
 */
uint32_t hodo_walk_count(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len,
			 struct hodo_walk_counter *counter);

/* An event in the body. */
struct hodo_walk_event {
	uint32_t id, tid, bytes;
	uint64_t time;     /* ticks */
	const uint8_t *at; /* that many bytes, with the header */
	uint64_t function; /* of a call or return, which has these instead of a payload */
	uint64_t frame;
	bool call;
};

struct hodo_walk_visitor {
	const uint8_t *wanted; /* by id: 1 to call event() */
	uint32_t ids;          /* entries of that */
	void (*event)(void *arg, const struct hodo_walk_event *event);
	void *arg;
};

/*
 * Visits the events in the len bytes at body, which are whole but may change meanwhile, even while the
 * visitor reads them. cursor: as in hodo_walk_counter. Events without an anchor before them are skipped.
 * Returns the time of the last.
 */
uint64_t hodo_walk_visit(const struct hodo_read_layouts *layouts, const uint8_t *body, uint32_t len,
			 struct hodo_cursor cursor, const struct hodo_walk_visitor *visitor);

/* Whether a copy of what was visited is still that event, complete: then its values may be used. */
bool hodo_walk_holds(const struct hodo_read_layouts *layouts, const struct hodo_walk_event *event,
		     const uint8_t *copy);
