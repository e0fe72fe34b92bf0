/* SPDX-License-Identifier: MIT */
#include "twin.h"
#include <core/atomic.h>

enum hodo_twin hodo_twin_try(const struct hodo_view *view, const struct hodo_state *state, uint32_t tid, uint64_t now,
			     const struct hodo_piece *pieces, size_t count, size_t total, uint32_t on)
{
	if (hodo_load_acquire(&view->packet_size) == 0)
		return HODO_TWIN_SLOW;
	if (hodo_load(state->on) != on)
		return HODO_TWIN_CHANGED;
	if (!hodo_ring_has_room(hodo_load(&view->ring->word), view->packet_size, total))
		return HODO_TWIN_SLOW;
	hodo_ring_write_locked(view, state->id, tid, now, pieces, count, total);
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
