/* SPDX-License-Identifier: MIT */
/*
 * frames.c - unwinders ask the loader which object contains an address, and where its descriptions are; for
 * slots we answer, from the plan's file. The loader does not know slots, and the alternative,
 * __register_frame(), makes each throw of the program take a lock in libgcc 12.
 *
 *                 | find                                  | take
 *   find          | beside: only reads, even in signal handlers
 *   take          | beside: a plan is published whole, and stays
 */
#include <core/atomic.h>
#include <core/search.h>
#include "engine.h"

/* Of the slot that contains the address; NULL: none. */
static const struct hodo_plan_frame *frame_at(const struct hodo_engine_plan *p, uintptr_t address)
{
	uint32_t n = hodo_engine_head(p)->frames.n, k;
	const struct hodo_plan_frame *first = p->frames, *last = first + n - 1;

	/* Mostly it is in the program, not in a plan's pages. */
	if (!n || address < first->slot || address >= last->slot + last->bytes)
		return 0;
	k = hodo_search(i, n, p->frames[i].slot > address);
	return address - p->frames[k - 1].slot < p->frames[k - 1].bytes ? &p->frames[k - 1] : 0;
}

/* Finds the window of the slot at the address; false: not one of our slots. */
static bool find_slot(uintptr_t address, struct hodo_engine_found *slot, uintptr_t *window)
{
	bool found = false;

	hodo_engine_look();
	for (uint32_t i = hodo_load_acquire(&hodo_engine_nplans); i-- > 0 && !found;) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];
		const struct hodo_plan_frame *f = frame_at(p, address);

		if (!f)
			continue;
		found = true;
		slot->start = f->slot;
		slot->end = f->slot + f->bytes;
		slot->header = (uintptr_t)p->file + f->header;
		*window = p->windows[f->window].addr;
	}
	hodo_engine_look_end();
	return found;
}

int hodo_engine_find(uintptr_t address, struct hodo_engine_found *found, hodo_engine_find_fn real)
{
	struct hodo_engine_found slot = { 0 };
	uintptr_t window;

	if (!find_slot(address, &slot, &window))
		return real(address, found);
	if (real(window, found) != 0)
		*found = (struct hodo_engine_found){ 0 };
	found->start = slot.start;
	found->end = slot.end;
	found->header = slot.header;
	return 0;
}
