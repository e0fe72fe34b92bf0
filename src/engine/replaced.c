/* SPDX-License-Identifier: MIT */
/*
 * replaced.c - functions in whose place others are called, as long as there is a recording. The slot knows where to;
 * what is left is the program's pointer, through which the other function calls the first one. It leads to the slot,
 * which stays, so nothing is set back at the end: a call that is under way needs it.
 */
#include <user/opened.h>
#include "engine.h"

/* The library with the pointer stays loaded, but what comes from elsewhere is not believed to be there. */
static bool set_original(const struct hodo_plan_replacement *r)
{
	if (!r->original)
		return true;
	if (!hodo_engine_readable((const void *)r->original))
		return false;
	/* Beside threads that call the first one by an earlier plan's slot. */
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
