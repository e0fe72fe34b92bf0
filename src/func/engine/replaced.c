/* SPDX-License-Identifier: MIT */
/*
 * replaced.c - functions that are replaced by others during a recording. The slot jumps to the replacement;
 * what remains is the program's pointer, through which the replacement calls the original. It points to the
 * slot, which stays, so it is not reset at the end: a call in progress needs it.
 */
#include <user/objects/opened.h>
#include "engine.h"
#include <user/event/event.h>
#include <user/process/process.h>

/* The library with the pointer stays loaded, but the plan's address is not trusted to be mapped. */
static bool set_original(const struct hodo_plan_replacement *r)
{
	if (!r->original)
		return true;
	if (!hodo_engine_readable((const void *)r->original))
		return false;
	/* Other threads may be calling the original through an earlier plan's slot. */
	__atomic_store_n((uint64_t *)r->original, r->first, __ATOMIC_RELEASE);
	return true;
}

static void warn(void)
{
	const char *text = "a function is not replaced: its code, or the library's pointer, is not what the files say";

	hodo_catalog_warning(&text, 1);
}

void hodo_engine_replace(const struct hodo_engine_plan *p, bool on)
{
	for (uint32_t i = 0; i < p->head->replacements.n; i++) {
		const struct hodo_plan_replacement *r = &p->replacements[i];
		bool fine = !(p->state[r->window] & HODO_ENGINE_REFUSED) && (!on || set_original(r));

		if (fine)
			hodo_engine_want(p->windows[r->window].addr, HODO_ENGINE_WANTED_EVENT, on);
		else if (on)
			warn();
	}
}

void hodo_engine_start(void)
{
	uint64_t mask = hodo_control_lock();

	hodo_planned_anew();
	hodo_control_unlock(mask);
}
