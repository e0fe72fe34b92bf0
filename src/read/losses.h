/* SPDX-License-Identifier: MIT */
/*
 * losses.h - when events were lost, and so what is not certain: a thread that is seen to leave a CPU before and to come
 * to one after it may have been on others meanwhile; a begin before and an end after it may be those of two spans; a
 * call that is over without an exit may have returned.
 *
 * Known while events are read, without another pass: a loss is known before any event that comes after its begin.
 */
#ifndef HODO_READ_LOSSES_H
#define HODO_READ_LOSSES_H

#include <hodo/read.h>

struct hodo_stream;

#define HODO_LOSSES_ANY_CPU INT32_MAX

/* Whether events of the process may be missing between two times, both included: on that CPU or in the fallback
 * stream, or anywhere. until_ns: not after the last event that hodo_read_next() gave, or any time once it gave all. */
bool hodo_losses_between(const struct hodo_read_process *process, int32_t cpu, int64_t from_ns, int64_t until_ns);
/* Whether any are known to be missing so far. */
bool hodo_losses_any(const struct hodo_read_process *process);

/* Times that do not overlap, in order. All zero: none. */
struct hodo_losses {
	struct hodo_loss_time {
		int64_t from_ns, until_ns;
	} *times;
	uint32_t n, room;
};

void hodo_losses_free(struct hodo_losses *losses);

/* Of a stream, from its packets' headers: what is known up to the packet before, and of the last one. */
struct hodo_loss_walk {
	uint64_t gap, discarded;
	int64_t end_ns; /* of the packet before */
	uint64_t seq;   /* its number, and the file that it is in */
	uint32_t file;
	uint64_t late;  /* that this packet refused behind its last event */
};

/* What is found out of a packet's header, before its events; and, when they have been walked, of its end. found is
 * called in order of time; what it returns ends it, if that is not 0. */
int hodo_losses_packet(struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss), void *data);
int hodo_losses_packet_end(struct hodo_stream *s, int (*found)(void *data, const struct hodo_read_loss *loss),
			   void *data);

/* While events are read in order (merge.c): as the stream begins, at each packet's header and end, and behind the last
 * packet. 0 or -ENOMEM. */
int hodo_losses_stream_begins(struct hodo_stream *s);
int hodo_losses_learn(struct hodo_stream *s);
int hodo_losses_learn_end(struct hodo_stream *s);
int hodo_losses_stream_ends(struct hodo_stream *s);

#endif
