/* SPDX-License-Identifier: MIT */
/*
 * exits.c - warns the user, once, of traced functions whose exits cannot be seen.
 */
#include <core/bounded_text.h>
#include <func/dispatch.h>
#include <func/func.h>
#include "slots.h"
#include <user/event/event.h>

static uint64_t recorded_sets(void)
{
	uint64_t sets = 0;

	for (uint32_t i = 0; hodo_tracers && i < hodo_tracers->n; i++) {
		if (hodo_tracers->entry[i].ops)
			sets |= hodo_tracers->entry[i].set;
	}
	return sets;
}

static uint32_t count_entry_only(uint64_t sets)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < hodo_func_nobjects; i++) {
		const struct hodo_func_object *o = &hodo_func_objects[i];

		for (uint32_t s = 0; o->in_use && o->nfunctions && s < o->nslots; s++) {
			const struct hodo_function *f = &o->functions[o->slots[s].function];
			uint8_t kind = o->slots[s].kind;

			n += (kind == HODO_SLOT_PATCHABLE || kind == HODO_SLOT_MCOUNT) && !f->planned &&
			     (f->sets & sets);
		}
	}
	return n;
}

/* Under the control lock, after functions have been selected. */
void hodo_exits_warn(void)
{
	/* Tracers that only record callers and depth do not need exits. */
	static const uint32_t needing = 1u << HODO_TRACER_RECORD | 1u << HODO_TRACER_GRAPH | 1u << HODO_TRACER_PROFILE |
					1u << HODO_TRACER_LATENCY | 1u << HODO_TRACER_LOOP;
	static bool warned;
	bool returns = hodo_func_config.flags & HODO_FUNCTIONS_RETURNS;
	const char *why = "";
	char digits[12];
	struct hodo_bounded number = hodo_bounded_to(digits, sizeof(digits));
	uint32_t n;

	if (warned || !hodo_func_config.size || !(hodo_func_config.tracers & needing) ||
	    (returns && hodo_returns_possible(hodo_x86_return, &why)))
		return;
	n = count_entry_only(recorded_sets());
	if (n == 0)
		return;
	warned = true;
	hodo_bounded_number(&number, n);
	hodo_catalog_warning((const char *const[]){
		"exits of ", digits, n == 1 ? " function" : " functions", " are not seen: they have room for a call at their entry"
		" only", returns ? ", and return addresses cannot be replaced: " : "", returns ? why : "",
		returns ? ": build" : ": add --returns, or build", " with the flags of `pkg-config --cflags --libs"
		" hodo-functions`" }, 8);
}
