/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.h - takes packets from one ring of a traced process.
 *
 *   who                 writes                         beside
 *   CPU's writers       word, lost_*, open packet      the reader
 *   reader (one)        consumed                       writers, which reuse packets below it
 *   both                waiters; the reader space      each other, in the order of user/ring/wait.c
 *
 * Discard mode: a closed packet does not change until `consumed` passes it, nor does the committed part of an
 * open one. Overwrite mode: nothing is consumed; at the end, the packets that cannot have been overwritten
 * are copied, and the copy is used only if that still holds afterwards.
 *
 * The memory is hostile. Whatever it contains, a call ends after at most as many packets as the ring has
 * (four times that for the last call), and gives the sink only packets that were copied and then checked:
 * header and events.
 */
#pragma once

#include <hodo/abi.h>

#include "drain.h"
#include "event_walk.h"
#include "ring_size_hint.h"
#include "give_back.h"

struct hodo_ring_reader;

struct hodo_ring_sink {
	/*
	 * A packet: header holds timestamp_begin, timestamp_end, content_size
	 * (= packet_size, bits), events, events_before, and events_discarded: all that are missing before the
	 * packet's end, as far as the reader knows. body: the bytes after the header.
	 */
	void (*packet)(void *arg, struct hodo_ring_reader *r, const struct hodo_packet *header,
		       const uint8_t *body);
	/* Called before packets are walked: gives the table, up to date with the catalogue. */
	const struct hodo_read_layouts *(*table)(void *arg);
	void *arg;
};

/* Events that were lost, by cause. */
struct hodo_lost {
	uint64_t full, too_large, busy, overwritten;
	uint64_t unwritten; /* could not be written to the output: a ring's reader does not count these */
	uint64_t damaged;   /* in invalid packets */
};

static inline void hodo_lost_add(struct hodo_lost *sum, const struct hodo_lost *l)
{
	sum->full += l->full;
	sum->too_large += l->too_large;
	sum->busy += l->busy;
	sum->overwritten += l->overwritten;
	sum->unwritten += l->unwritten;
	sum->damaged += l->damaged;
}

struct hodo_ring_reader {
	struct hodo_ring *ring;
	const uint8_t *packets; /* ring_size bytes */
	uint64_t ring_size;
	uint32_t packet_size;
	enum hodo_mode mode;
	uint8_t *copy; /* packet_size bytes, shared by all readers of a thread */
	struct hodo_drain *drain; /* NULL: packets are copied and checked under its lock, or nobody else is there */
	/* Returns packets 0 .. packets-1 to the writers; NULL: by a store in the ring. */
	void (*consume)(struct hodo_ring_reader *r, uint64_t packets);
	bool waits;      /* writers may wait for them */
	struct hodo_ring_pages pages;
	/* ring_copy.h: */
	bool frozen;     /* ring and packets are a copy, whose bodies may be given in place */
	bool ended;      /* ts_max was reached: what follows is neither given nor missing */
	uint64_t ts_max; /* cut-off time in ticks; UINT64_MAX: none */

	bool broken;     /* positions were invalid: the ring is no longer read */
	bool skipped;    /* a packet after the last good one was invalid */
	bool untrue;     /* a count of lost events is false; set by hodo_ring_finish() */
	uint32_t damage; /* packets dropped */
	uint64_t next;   /* sequence number to read */
	uint64_t expect; /* events_before of the packet to come */
	struct {
		uint32_t bytes, events;
		struct hodo_cursor cursor; /* behind them */
	} given; /* what was given of packet `next` while it was open: hodo_ring_take_open() */
	uint64_t ts_end; /* of the last packet given */
	uint64_t word;   /* as last seen */
	uint64_t discarded; /* events_discarded last given */
	uint64_t missed; /* overwritten and damaged */
	struct hodo_lost lost; /* final after hodo_ring_finish() */
	struct hodo_ring_size_hint size_hint;
};

void hodo_ring_reader_init(struct hodo_ring_reader *r, struct hodo_ring *ring, const uint8_t *packets,
			   const struct hodo_layout *layout, enum hodo_mode mode, uint8_t *copy);

/*
 * While the process runs: gives closed packets (discard mode) to the sink and returns them to the writers.
 * Returns how many 16ths of the ring were in use, 0 .. 16.
 */
int hodo_ring_poll(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink);

/*
 * While the process runs, after hodo_ring_poll(): gives the contents of the open packet, as a separate packet
 * (discard mode). It stays open, and what is added is given later. Whether all that was committed by then is given; if
 * not, all is that is older than ts_end.
 */
bool hodo_ring_take_open(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink);

/*
 * At the end: gives everything left to the sink, including the open packet. alive: the process may still
 * write. Sets lost; discarded is then the total that is missing.
 */
void hodo_ring_finish(struct hodo_ring_reader *r, const struct hodo_ring_sink *sink, bool alive);

/*
 * Loads the commit word and finds the full sequence number of the open packet.
 * False if the ring was never used (the word is 0), or is broken.
 */
bool hodo_ring_locate(struct hodo_ring_reader *r, uint64_t *word, uint64_t *current);

/* Whether more than a packet or two are closed and not given yet: enough work for another thread. */
static inline bool hodo_ring_lags(struct hodo_ring_reader *r)
{
	uint64_t word, current;

	return !r->broken && hodo_ring_locate(r, &word, &current) && current - r->next > 2;
}

/* How many packets were begun between two commit words. */
uint64_t hodo_ring_ahead(const struct hodo_ring_reader *r, uint64_t later, uint64_t word);

/* Time stamp at which the open packet began, 0 if there is none. */
uint64_t hodo_ring_open_since(const struct hodo_ring_reader *r);

/* Events committed to the ring so far, as far as its words are credible; for a progress display. */
uint64_t hodo_ring_events(const struct hodo_ring_reader *r);
