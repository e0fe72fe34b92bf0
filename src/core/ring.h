/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ring.h - the ring of one CPU: places, packets, and the plan of a packet switch.
 *
 * Who may run beside whom, on one ring:
 *
 *                     | write event | switch packet | activate | consumer | recorder stop
 *   write event       | excluded    | excluded      | before   | beside   | beside
 *   switch packet     |             | excluded      | before   | beside   | beside
 *   activate          |             |               | excluded | beside   | beside
 *
 * "excluded": at most one takes effect. A CPU's ring: all of them are rseq
 * critical sections on that CPU, so of two that are between first check and commit store, all but one
 * restart. The fallback ring: the owner lock. Activation is excluded by a state word (core/ring.c).
 *
 * What a writer publishes, it publishes by the one store of ring->word, which
 * is a release store (on x86-64 a plain one: stores are not reordered with
 * older stores). The consumer's acquire load of word pairs with it: without
 * release or acquire the consumer could see the new position and old bytes.
 *
 * The consumer returns packets by a release store of ring->consumed; the switch loads it with acquire before
 * it overwrites the packet. Otherwise, the new packet's first bytes could be stored before the consumer had
 * read the old ones.
 *
 * Anchors (hodo/abi.h). ring->anchor and ring->window repeat the last anchor, if it is in the open packet and
 * holds for everything between it and the position; else anchor is 0. Only writers read them, as part of
 * "write event". An event that finds another thread or epoch in anchor is written in two steps:
 *
 *	1  anchor = 0; the anchor's record, the event's; commit
 *	2  if nobody has written since: window; then anchor
 *
 * Without the 0, a writer that comes between the commit of 1 and step 2 (a signal handler in another epoch, a
 * thread that has preempted this one) could find the old thread there and write after an anchor that says
 * otherwise. anchor comes last in 2, since window alone means nothing. "Nobody has written" means that the
 * ring, its commit word and the packet's timestamp_begin are the same. The word alone repeats, and another
 * recording may have come to the same place, with the same word and number. If 2 is interrupted, anchor stays
 * 0, and the next event writes an unneeded anchor. A packet switch clears anchor before its commit, so that
 * each packet can be read alone.
 */
#pragma once

#include <hodo/abi.h>
#include <stdbool.h>

/*
 * A writer's view of a ring. The assembly writer knows the offsets; packet_size 0 sends it to the slow path, so that an
 * all-zero view means "not yet, or not here". packet_size is therefore stored last.
 */
struct hodo_view {
	struct hodo_ring *ring;
	uint8_t *data;
	uint64_t mask; /* ring size in bytes - 1 */
	uint64_t packet_size;
	uint64_t populated; /* packets whose pages were touched */
	uint64_t capacity;  /* packets of a ring in discard mode; 0: never full (overwrite mode) */
	uint64_t reserved[2];
};
HODO_ASSERT_SIZE_(struct hodo_view, 64);

/* What all rings of one recording have in common. */
struct hodo_ring_config {
	uint8_t uuid[16];
	uint32_t packet_size;
	uint32_t mode; /* enum hodo_mode */
	uint64_t ring_size;
};

/* A packet switch, computed outside the critical section; offsets are known to the assembly. */
struct hodo_switch {
	struct hodo_ring *ring;      /* 0 */
	struct hodo_packet *old;     /* 8 */
	struct hodo_packet *fresh;   /* 16 */
	uint64_t word;               /* 24: expected */
	uint64_t fresh_word;         /* 32 */
	uint64_t seq;                /* 40: expected number of the old packet */
	uint64_t now;                /* 48: ticks */
	uint64_t content_size;       /* 56: bits, of the old packet */
	uint64_t events_before;      /* 64: of the fresh packet */
	uint64_t events_discarded;   /* 72 */
	uint32_t events;             /* 80: of the old packet */
	uint32_t cpu;                /* 84: the CPU whose ring it is */
};
HODO_ASSERT_SIZE_(struct hodo_switch, 88);

static inline uint64_t hodo_word_position(uint64_t word) { return word >> HODO_WORD_COUNT_BITS; }
static inline uint32_t hodo_word_events(uint64_t word) { return (uint32_t)word & HODO_WORD_COUNT_MASK; }

/* Free bytes that an event needs after the position, including an anchor before it: the fast writer copies in
 * steps of 8 and may write up to 7 bytes past the event, and a position is never at the packet's very end,
 * where it could not be distinguished from the start of the next. */
static inline uint64_t hodo_ring_need(uint64_t payload)
{
	return payload + HODO_ANCHOR_BYTES + HODO_EVENT_HEADER + 8;
}

/* ------------------------------------------------------------------- records */

/* The first word of an event; its upper 16 bits are the payload's. */
static inline uint64_t hodo_event_word(uint32_t id, uint64_t ticks)
{
	return HODO_FORM_EVENT | (ticks & HODO_TIME_MASK) | (uint64_t)id << HODO_ID_SHIFT;
}

/* Copies an event from its first word on; returns its end. */
static inline uint8_t *hodo_event_put(uint8_t *p, uint64_t word, const struct hodo_piece *pieces, size_t count)
{
	__builtin_memcpy(p, &word, HODO_EVENT_HEADER);
	p += HODO_EVENT_HEADER;
	for (size_t i = 0; i < count; i++) {
		if (pieces[i].len)
			__builtin_memcpy(p, pieces[i].data, pieces[i].len);
		p += pieces[i].len;
	}
	return p;
}

static inline uint32_t hodo_event_id(uint64_t word) { return (uint32_t)(word >> HODO_ID_SHIFT) & 0xffff; }

/* Both words of an anchor. window: the lowest address, a multiple of 256. */
static inline void hodo_anchor_words(uint64_t words[2], uint64_t ticks, uint32_t tid, uint64_t window)
{
	words[0] = ticks | HODO_FORM_ANCHOR;
	words[1] = (uint64_t)(tid & ((1u << HODO_TID_BITS) - 1)) | window >> HODO_WINDOW_SHIFT << HODO_TID_BITS;
}
/* The window of 16 KiB around a stack address. */
static inline uint64_t hodo_anchor_window(uint64_t address)
{
	return (address - HODO_WINDOW / 2) >> HODO_WINDOW_SHIFT << HODO_WINDOW_SHIFT;
}
/* What ring->anchor is while events of that thread need none. */
static inline uint64_t hodo_anchor_key(uint32_t tid, uint64_t ticks)
{
	return (uint64_t)tid << 32 | (uint32_t)(ticks >> HODO_EPOCH_SHIFT);
}

static inline bool hodo_ring_has_room(uint64_t word, uint64_t packet_size, uint64_t payload)
{
	uint64_t offset = hodo_word_position(word) & (packet_size - 1);

	return offset + hodo_ring_need(payload) <= packet_size;
}

static inline bool hodo_ring_fits(uint64_t packet_size, uint64_t payload)
{
	return payload < packet_size && sizeof(struct hodo_packet) + hodo_ring_need(payload) <= packet_size;
}

/*
 * Prepares the ring's first packet and its word, and makes it usable. Only one caller succeeds; the others get -1 and
 * must write elsewhere until ring->activation is 2. now in ticks.
 */
int hodo_ring_activate(const struct hodo_ring_config *config, struct hodo_ring *ring, uint8_t *data, uint32_t cpu,
		       uint64_t now);

enum hodo_ring_planned {
	HODO_RING_PLANNED,
	HODO_RING_FULL, /* the next packet is still the consumer's (discard mode) */
	HODO_RING_MOVED /* word is no longer the ring's */
};

/*
 * Plans the switch from the packet that word lies in, except for plan->now, which the caller reads from the
 * clock afterwards: read earlier, it could be older than the packet. Writes the constant part of the next
 * packet's header, which is the same in every lap, so that a late or repeated write is harmless.
 */
enum hodo_ring_planned hodo_ring_plan(const struct hodo_ring_config *config, const struct hodo_view *view,
				      uint32_t cpu, uint64_t word, struct hodo_switch *plan);

/* Carries out the plan where nobody else may write: the fallback ring, under its lock. */
void hodo_ring_switch_locked(const struct hodo_switch *plan);

/* Where nobody else may write (the fallback ring, under its lock): stores an event at the ring's position, preceded
 * by an anchor if it needs one, and commits them. The event must have room. */
void hodo_ring_write_locked(const struct hodo_view *view, uint16_t id, uint32_t tid, uint64_t now,
			    const struct hodo_piece *pieces, size_t count, size_t total);

/* The packet in slot of sequence number seq. */
static inline struct hodo_packet *hodo_ring_packet(const struct hodo_view *view, uint64_t position)
{
	return (struct hodo_packet *)(view->data + (position & view->mask & ~(view->packet_size - 1)));
}
