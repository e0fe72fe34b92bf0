/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ring.h"
#include "atomic.h"

static void write_constants(const struct hodo_ring_config *config, struct hodo_packet *p, uint32_t cpu)
{
	p->magic = HODO_CTF_MAGIC;
	__builtin_memcpy(p->uuid, config->uuid, sizeof(p->uuid));
	p->stream_id = 0;
	p->packet_size = (uint64_t)config->packet_size * 8;
	p->cpu_id = cpu;
}

int hodo_ring_activate(const struct hodo_ring_config *config, struct hodo_ring *ring, uint8_t *data, uint32_t cpu,
		       uint64_t now)
{
	struct hodo_packet *p = (struct hodo_packet *)data;
	uint32_t unused = 0;

	/* Without the exclusive state, a writer that lost the race could store its later timestamp_begin
	 * over a packet that already holds an earlier event. */
	if (!hodo_cas_acquire(&ring->activation, &unused, 1))
		return -1;
	HODO_INJECT(HODO_INJECT_ACTIVATING);
	write_constants(config, p, cpu);
	p->timestamp_begin = now;
	/* The header before the word: to the consumer, any word but 0 means a ring with a packet. */
	hodo_store_release(&ring->word, (uint64_t)sizeof(*p) << HODO_WORD_COUNT_BITS);
	hodo_store_release(&ring->activation, 2);
	return 0;
}

enum hodo_ring_planned hodo_ring_plan(const struct hodo_ring_config *config, const struct hodo_view *view,
				      uint32_t cpu, uint64_t word, struct hodo_switch *plan)
{
	uint64_t position = hodo_word_position(word);
	uint64_t next = (position & ~(view->packet_size - 1)) + view->packet_size;
	struct hodo_ring *ring = view->ring;
	uint64_t position_mask = (1ull << (64 - HODO_WORD_COUNT_BITS)) - 1;

	plan->ring = ring;
	plan->old = hodo_ring_packet(view, position);
	plan->fresh = hodo_ring_packet(view, next);
	plan->word = word;
	/* The section compares word and this, since word alone comes round again after 2^44 bytes and a
	 * writer may sleep for that long between here and the section. word is loaded once more, so that
	 * the number is not one that a switch a lap later has only half written around. */
	plan->seq = hodo_load_acquire(&plan->old->packet_seq_num);
	if (hodo_load_acquire(&ring->word) != word)
		return HODO_RING_MOVED;
	if (config->mode == HODO_MODE_DISCARD &&
	    plan->seq + 1 - hodo_load_acquire(&ring->consumed) >= config->ring_size / config->packet_size)
		return HODO_RING_FULL;
	plan->fresh_word = ((next + sizeof(struct hodo_packet)) & position_mask) << HODO_WORD_COUNT_BITS;
	plan->now = 0;
	plan->content_size = (position & (view->packet_size - 1)) * 8;
	plan->events = hodo_word_events(word);
	plan->events_before = hodo_load(&plan->old->events_before) + plan->events;
	plan->events_discarded = hodo_load(&ring->lost_full) + hodo_load(&ring->lost_too_large) +
				 hodo_load(&ring->lost_busy);
	plan->cpu = cpu;
	write_constants(config, plan->fresh, cpu);
	return HODO_RING_PLANNED;
}

void hodo_ring_switch_locked(const struct hodo_switch *plan)
{
	struct hodo_packet *old = plan->old, *fresh = plan->fresh;

	old->timestamp_end = plan->now;
	old->content_size = plan->content_size;
	old->events = plan->events;
	fresh->packet_seq_num = plan->seq + 1;
	fresh->events_before = plan->events_before;
	fresh->timestamp_begin = plan->now;
	fresh->timestamp_end = 0;
	fresh->content_size = 0;
	fresh->events = 0;
	fresh->events_discarded = plan->events_discarded;
	hodo_store(&plan->ring->anchor, 0);
	hodo_store_release(&plan->ring->word, plan->fresh_word);
}

void hodo_ring_write_locked(const struct hodo_view *view, uint16_t id, uint32_t tid, uint64_t now,
			    const struct hodo_piece *pieces, size_t count, size_t total)
{
	struct hodo_ring *ring = view->ring;
	uint64_t word = hodo_load(&ring->word), window = hodo_anchor_window((uintptr_t)__builtin_frame_address(0));
	uint8_t *p = view->data + (hodo_word_position(word) & view->mask);
	uint64_t head, key, bytes = total + HODO_EVENT_HEADER;
	bool anchored;

	/* Somebody else has written the word since the caller looked, perhaps a recorder, which shares the
	 * memory. */
	if (!hodo_ring_has_room(word, view->packet_size, total))
		return;
	/* Two CPUs' clocks may differ by a few ticks; a time that ran back would be read as one an epoch
	 * later. */
	if (now < ring->latest)
		now = ring->latest;
	head = hodo_event_word(id, now);
	key = hodo_anchor_key(tid, now);
	anchored = hodo_load(&ring->anchor) == key;
	if (!anchored) {
		uint64_t anchor[2];

		hodo_store(&ring->anchor, 0);
		hodo_anchor_words(anchor, now, tid, window);
		__builtin_memcpy(p, anchor, sizeof(anchor));
		p += sizeof(anchor);
		bytes += sizeof(anchor);
	}
	hodo_event_put(p, head, pieces, count);
	HODO_INJECT(HODO_INJECT_FALLBACK_STORED);
	ring->latest = now;
	hodo_store_release(&ring->word, word + (bytes << HODO_WORD_COUNT_BITS) + 1);
	if (anchored)
		return;
	/* A writer that is killed here leaves 0. */
	hodo_store(&ring->window, window + 8);
	hodo_store(&ring->anchor, key);
}
