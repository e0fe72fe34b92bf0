/* SPDX-License-Identifier: MIT */
#include "twin.h"
#include <core/atomic.h>

/* Free bytes after a record: it may be copied in steps of 8, and no position is at a packet's end. */
#define BEHIND 8

static bool has_room(const struct hodo_view *view, uint64_t word, uint64_t bytes)
{
	return (hodo_word_position(word) & (view->packet_size - 1)) + bytes + BEHIND <= view->packet_size;
}

static uint8_t *slot_of(const struct hodo_view *view, uint64_t word)
{
	return view->data + (hodo_word_position(word) & view->mask);
}

static void commit(const struct hodo_view *view, uint64_t word, uint64_t bytes)
{
	hodo_store_release(&view->ring->word, word + (bytes << HODO_WORD_COUNT_BITS) + 1);
}

static uint8_t *put_anchor(const struct hodo_view *view, uint8_t *p, const struct hodo_twin_by *by)
{
	uint64_t words[2];

	hodo_store(&view->ring->anchor, 0);
	hodo_anchor_words(words, by->now, by->tid, by->window);
	__builtin_memcpy(p, words, sizeof(words));
	return p + sizeof(words);
}

/* After the commit: the caller is alone, so nobody else has written. */
static void set_anchor(const struct hodo_view *view, const struct hodo_twin_by *by)
{
	hodo_store(&view->ring->window, by->window + 8);
	hodo_store(&view->ring->anchor, hodo_anchor_key(by->tid, by->now));
}

enum hodo_twin hodo_twin_emit(const struct hodo_view *view, const struct hodo_state *state,
			      const struct hodo_twin_by *by, const void *data, size_t len)
{
	uint64_t word, head = hodo_event_word(state->id, by->now);
	uint8_t *p;

	if (hodo_load_acquire(&view->packet_size) == 0 || hodo_load(state->on) != HODO_ON_RECORD)
		return HODO_TWIN_SLOW;
	word = hodo_load(&view->ring->word);
	if (!has_room(view, word, HODO_EVENT_HEADER + len) ||
	    hodo_load(&view->ring->anchor) != hodo_anchor_key(by->tid, by->now))
		return HODO_TWIN_SLOW;
	p = slot_of(view, word);
	__builtin_memcpy(p, &head, HODO_EVENT_HEADER);
	if (len)
		__builtin_memcpy(p + HODO_EVENT_HEADER, data, len);
	commit(view, word, HODO_EVENT_HEADER + len);
	return HODO_TWIN_DONE;
}

enum hodo_twin hodo_twin_short(const struct hodo_view *view, const struct hodo_state *state,
			       const struct hodo_twin_by *by, bool exit, uint64_t pc, uint64_t at)
{
	uint64_t word, above, record;

	if (hodo_load_acquire(&view->packet_size) == 0 || hodo_load(state->on) != HODO_ON_RECORD)
		return HODO_TWIN_SLOW;
	word = hodo_load(&view->ring->word);
	if (!has_room(view, word, HODO_CALL_BYTES) ||
	    hodo_load(&view->ring->anchor) != hodo_anchor_key(by->tid, by->now))
		return HODO_TWIN_SLOW;
	above = at - hodo_load(&view->ring->window);
	if (above % 16 || above >= HODO_WINDOW)
		return HODO_TWIN_SLOW;
	record = hodo_twin_call_record(exit, pc, at) | (by->now & HODO_TIME_MASK);
	__builtin_memcpy(slot_of(view, word), &record, sizeof(record));
	commit(view, word, sizeof(record));
	return HODO_TWIN_DONE;
}

enum hodo_twin hodo_twin_try(const struct hodo_view *view, const struct hodo_state *state,
			     const struct hodo_twin_by *by, const struct hodo_piece *pieces, size_t count, size_t total,
			     uint32_t on)
{
	uint64_t word, head = hodo_event_word(state->id, by->now);
	bool anchored;
	uint8_t *p;

	if (hodo_load_acquire(&view->packet_size) == 0)
		return HODO_TWIN_SLOW;
	if (hodo_load(state->on) != on)
		return HODO_TWIN_CHANGED;
	word = hodo_load(&view->ring->word);
	if (!has_room(view, word, HODO_ANCHOR_BYTES + HODO_EVENT_HEADER + total))
		return HODO_TWIN_SLOW;
	anchored = hodo_load(&view->ring->anchor) == hodo_anchor_key(by->tid, by->now);
	p = slot_of(view, word);
	if (!anchored)
		p = put_anchor(view, p, by);
	hodo_event_put(p, head, pieces, count);
	commit(view, word, (anchored ? 0 : HODO_ANCHOR_BYTES) + HODO_EVENT_HEADER + total);
	if (!anchored)
		set_anchor(view, by);
	return HODO_TWIN_DONE;
}

enum hodo_twin hodo_twin_call(const struct hodo_view *view, const struct hodo_state *state,
			      const struct hodo_twin_by *by, uint64_t record)
{
	uint64_t word;

	if (hodo_load_acquire(&view->packet_size) == 0 || hodo_load(state->on) != HODO_ON_RECORD)
		return HODO_TWIN_SLOW;
	word = hodo_load(&view->ring->word);
	if (!has_room(view, word, HODO_ANCHOR_BYTES + HODO_CALL_BYTES))
		return HODO_TWIN_SLOW;
	record |= by->now & HODO_TIME_MASK;
	__builtin_memcpy(put_anchor(view, slot_of(view, word), by), &record, sizeof(record));
	commit(view, word, HODO_ANCHOR_BYTES + HODO_CALL_BYTES);
	set_anchor(view, by);
	return HODO_TWIN_DONE;
}

int hodo_twin_full(const struct hodo_view *view, size_t total)
{
	uint64_t word;

	if (hodo_load_acquire(&view->packet_size) == 0 || view->capacity == 0)
		return 0;
	word = hodo_load(&view->ring->word);
	if (hodo_ring_has_room(word, view->packet_size, total))
		return 0;
	if (hodo_ring_packet(view, hodo_word_position(word))->packet_seq_num + 1 -
		    hodo_load_acquire(&view->ring->consumed) < view->capacity)
		return 0;
	hodo_add(&view->ring->lost_full, 1);
	return 1;
}

int hodo_twin_switch(const struct hodo_switch *plan)
{
	if (hodo_load(&plan->ring->word) != plan->word || plan->old->packet_seq_num != plan->seq)
		return -1;
	hodo_ring_switch_locked(plan);
	return 0;
}
