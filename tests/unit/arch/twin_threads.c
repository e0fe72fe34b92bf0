/* SPDX-License-Identifier: MIT */
/*
 * twin_threads.c - the C twin of the ring with four writers under a lock, as on
 * the fallback path, and at the same time a consumer, in discard mode: what the
 * consumer reads is whole, in order, each event with its thread and time; together with the refused events it equals
 * what was written. Meant for ThreadSanitizer (preset tsan-twin), and run in every build.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arch/generic/twin.h>
#include <core/atomic.h>

#define PACKET 1024u
#define RING (4u * PACKET)
#define WRITERS 4
#define EVENTS 50000u
#define TICK (1ull << (HODO_EPOCH_SHIFT - 6)) /* 64 ticks make an epoch */

static struct hodo_ring ring;
static uint8_t data[RING] __attribute__((aligned(4096)));
static struct hodo_view view = { &ring, data, RING - 1, PACKET, 0, 0, { 0 } };
static struct hodo_ring_config config = { .packet_size = PACKET, .mode = HODO_MODE_DISCARD, .ring_size = RING };
static uint32_t on = HODO_ON_RECORD;
static struct hodo_state state = { .on = &on, .id = 9 };
static uint64_t clock_now = 1; /* a multiple of TICK, and 1 */
static uint32_t writers_left = WRITERS;
static unsigned bad, bad_switches; /* the consumer's; the writers', under their lock */

struct payload {
	uint64_t seq, inverse, ticks, tid;
};

/* By one of the two writers. */
static enum hodo_twin write_at(struct payload *payload, uint64_t now)
{
	struct hodo_piece piece = { payload, sizeof(*payload) };
	struct hodo_twin_by by = { (uint32_t)payload->tid, now, hodo_anchor_window((uintptr_t)payload) };

	payload->ticks = now;
	if (payload->seq % 2)
		return hodo_twin_try(&view, &state, &by, &piece, 1, sizeof(*payload), on);
	if (!hodo_ring_has_room(hodo_load(&ring.word), PACKET, sizeof(*payload)))
		return HODO_TWIN_SLOW;
	hodo_ring_write_locked(&view, state.id, by.tid, now, &piece, 1, sizeof(*payload));
	return HODO_TWIN_DONE;
}

static void write_one(uint32_t tid, uint64_t seq)
{
	struct payload payload = { .seq = seq, .inverse = ~seq, .tid = tid };
	struct hodo_switch plan;
	uint32_t owner = 0;

	while (!hodo_cas_seq(&ring.owner, &owner, tid)) {
		owner = 0;
		sched_yield();
	}
	while (write_at(&payload, clock_now += TICK) == HODO_TWIN_SLOW) {
		if (hodo_ring_plan(&config, &view, HODO_CPU_ANY, hodo_load(&ring.word), &plan) != HODO_RING_PLANNED) {
			hodo_add(&ring.lost_full, 1);
			break;
		}
		plan.now = clock_now += TICK;
		bad_switches += hodo_twin_switch(&plan) != 0;
	}
	hodo_store_release(&ring.owner, 0);
}

static void *writer(void *arg)
{
	uint32_t tid = (uint32_t)(uintptr_t)arg;

	for (uint64_t seq = 1; seq <= EVENTS; seq++) {
		write_one(tid, seq);
		if (seq % 64 == 0)
			sched_yield();
	}
	__atomic_fetch_sub(&writers_left, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Reads the events of a packet from its copy; returns their number. */
static uint32_t check_packet(const uint8_t *copy, size_t end, uint64_t last[WRITERS + 1])
{
	uint64_t anchor[2] = { 0 }, word = 0;
	uint32_t n = 0;

	for (size_t at = sizeof(struct hodo_packet); at < end && !bad;) {
		struct payload p;

		memcpy(&word, copy + at, HODO_EVENT_HEADER);
		if ((word & HODO_FORM_MASK) == HODO_FORM_ANCHOR) {
			memcpy(anchor, copy + at, sizeof(anchor));
			at += HODO_ANCHOR_BYTES;
			continue;
		}
		memcpy(&p, copy + at + HODO_EVENT_HEADER, sizeof(p));
		bad += hodo_event_id(word) != state.id || p.inverse != ~p.seq || p.tid < 1 || p.tid > WRITERS;
		bad += bad || p.tid != (anchor[1] & 0xffffff) || p.seq <= last[p.tid];
		bad += anchor[0] >> HODO_EPOCH_SHIFT != p.ticks >> HODO_EPOCH_SHIFT;
		bad += (word & HODO_TIME_MASK) != (p.ticks & HODO_TIME_MASK);
		last[bad ? 0 : p.tid] = p.seq;
		at += HODO_EVENT_HEADER + sizeof(p);
		n++;
	}
	return n;
}

static uint64_t consume(void)
{
	uint64_t next = 0, read = 0, last[WRITERS + 1] = { 0 };
	uint8_t copy[PACKET];

	for (;;) {
		int ended = hodo_load_seq(&writers_left) == 0;
		uint64_t word = hodo_load_acquire(&ring.word), position = hodo_word_position(word);
		const struct hodo_packet *open = hodo_ring_packet(&view, position);
		uint64_t current = position / PACKET; /* few packets: no wrap */

		if (next == current && !ended) {
			sched_yield();
			continue;
		}
		if (next < current) {
			const struct hodo_packet *p = hodo_ring_packet(&view, next * PACKET);
			struct hodo_packet head;

			memcpy(&head, p, sizeof(head));
			memcpy(copy, p, head.content_size / 8);
			bad += head.packet_seq_num != next || head.events_before != read;
			read += check_packet(copy, head.content_size / 8, last);
			bad += read != head.events_before + head.events;
			hodo_store_release(&ring.consumed, ++next);
			continue;
		}
		return read + check_packet((const uint8_t *)open, position % PACKET, last);
	}
}

int main(void)
{
	pthread_t threads[WRITERS];
	uint64_t read;

	hodo_ring_activate(&config, &ring, data, HODO_CPU_ANY, 1);
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, writer, (void *)(i + 1));
	read = consume();
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	bad += bad_switches;
	printf("written %u = read %lu + full %lu, bad %u\n", WRITERS * EVENTS, (unsigned long)read,
	       (unsigned long)ring.lost_full, bad);
	return bad || !read || read + ring.lost_full != (uint64_t)WRITERS * EVENTS;
}
