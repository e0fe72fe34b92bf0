/* SPDX-License-Identifier: MIT */
/*
 * frames.c - unwinders ask the loader which object an address is in, and where its descriptions are; for slots they are
 * answered here, from the plan's file. The loader knows no slots, and what else there is, __register_frame(), makes
 * each throw of the program take a lock of libgcc 12's.
 *
 *                 | find                                  | take
 *   find          | beside: it only reads, also in signal handlers
 *   take          | beside: a plan is published whole, and stays
 */
#include <core/search.h>
#include "engine.h"

/* Of the slot that has the address; NULL: it is in none. */
static const struct hodo_plan_frame *frame_at(const struct hodo_engine_plan *p, uintptr_t address)
{
	uint32_t n = p->head->frames.n, k;
	const struct hodo_plan_frame *first = p->frames, *last = first + n - 1;

	/* Mostly it is the program's, and in no plan's pages. */
	if (!n || address < first->slot || address >= last->slot + last->bytes)
		return 0;
	k = hodo_search(i, n, p->frames[i].slot > address);
	return address - p->frames[k - 1].slot < p->frames[k - 1].bytes ? &p->frames[k - 1] : 0;
}

int hodo_engine_find(uintptr_t address, struct hodo_engine_found *found, hodo_engine_find_fn real)
{
	for (uint32_t i = hodo_load_acquire(&hodo_engine_nplans); i-- > 0;) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];
		const struct hodo_plan_frame *f = frame_at(p, address);

		if (!f)
			continue;
		if (real(p->windows[f->window].addr, found) != 0)
			*found = (struct hodo_engine_found){ 0 };
		found->start = f->slot;
		found->end = f->slot + f->bytes;
		found->header = (uintptr_t)p->file + f->header;
		return 0;
	}
	return real(address, found);
}
