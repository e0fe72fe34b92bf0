/* SPDX-License-Identifier: MIT */
/*
 * losses.h - when events were lost, and so what is uncertain: a thread that leaves a CPU before and comes to
 * one after a loss may have been on others meanwhile; a start event before and an end after it may belong to two
 * spans; a call without an exit may have returned.
 *
 * Available while events are read, without another pass: a loss is known before any event after its start.
 */
#pragma once

#include <hodo/read.h>

struct hodo_stream;

#define HODO_LOSSES_ANY_CPU INT32_MAX

/* Whether events of the process may be missing between two times, both included: on that CPU or in the fallback
 * stream, or anywhere. until_ns: not after the last event that hodo_read_next() gave, or any time once it gave all. */
bool hodo_losses_between(const struct hodo_read_process *process, int32_t cpu, int64_t from_ns, int64_t until_ns);
/* Whether any losses are known so far. */
bool hodo_losses_any(const struct hodo_read_process *process);

/* Times that do not overlap, in order. All zero: none. */
struct hodo_losses {
	struct hodo_loss_time {
		int64_t from_ns, until_ns;
	} *times;
	uint32_t n, room;
};

void hodo_losses_free(struct hodo_losses *losses);

/* The losses of a stream, from its packets' headers: state up to the previous packet, and of the last one. */
struct hodo_loss_walk {
	uint64_t gap, discarded;
	int64_t end_ns; /* of the packet before */
	uint64_t late;  /* events that this packet refused after its last one */
};

/* Finds losses from a packet's header, before its events; and, after these, from its end. found is called in
 * order of time; a result other than 0 ends the walk. */
int hodo_losses_packet(struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss), void *data);
int hodo_losses_packet_end(struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss),
			   void *data);

/* Notes what is missing before the packet whose header has just been read. missing: packets are, since the header
 * before; rose: how many more events it counts as lost. */
void hodo_losses_gap(struct hodo_stream *s, bool missing, uint64_t rose);
/* Sums up a stream's losses by cause, as far as it was walked. */
void hodo_losses_sum(struct hodo_stream *s);

/* While events are read in order (order.c): when the stream begins, at each packet's header and end, and
 * after the last packet. 0 or -ENOMEM. */
int hodo_losses_stream_begins(struct hodo_stream *s);
int hodo_losses_learn(struct hodo_stream *s);
int hodo_losses_learn_end(struct hodo_stream *s);
int hodo_losses_stream_ends(struct hodo_stream *s);

static inline uint64_t hodo_read_lost_sum(const struct hodo_read_lost *l)
{
	return l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static inline void hodo_read_lost_add(struct hodo_read_lost *sum, const struct hodo_read_lost *lost)
{
	sum->full += lost->full;
	sum->too_large += lost->too_large;
	sum->busy += lost->busy;
	sum->overwritten += lost->overwritten;
	sum->unwritten += lost->unwritten;
	sum->unknown += lost->unknown;
	sum->damaged += lost->damaged;
}
