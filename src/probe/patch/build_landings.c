/* SPDX-License-Identifier: MIT */
/*
 * build_landings.c - windows at the entries of functions by which calls are left (landings.h). If a window is
 * not possible, left calls are found later, by the next event that shows it.
 */
#include <hodo/abi_plan.h>

#include "build_impl.h"
#include "event_code.h"

/* x: NULL: only finds the length. */
static size_t code(const struct hodo_plan_item *x, uint64_t what, uint64_t address, uint8_t *to)
{
	const struct hodo_probe_event_code code = {
		.part = HODO_EVENT_BEGIN, .function = what,
		.call = x ? x->pool + sizeof(uint64_t) * HODO_IMPORT_LANDED : 0,
	};

	return hodo_probe_event_code(&code, address, to, HODO_PROBE_HOOK_BYTES);
}

static int add(struct hodo_probe_piece *b, const struct hodo_probe_landing *l)
{
	const struct hodo_probe_function *f = hodo_probe_function_at(b->target->object, l->addr);
	uint64_t what = (l->addr + b->target->bias) | (uint64_t)l->landing << HODO_LANDING_SHIFT;
	uint8_t room[HODO_PROBE_HOOK_BYTES];
	struct hodo_plan_hook h = { .kind = HODO_HOOK_LANDING, .state = what };
	struct hodo_build_place place;
	int err;

	if (!f || f->start != l->addr || f->part)
		return 0;
	h.bytes = (uint16_t)code(NULL, what, 0, room);
	err = hodo_build_entry(b, f, false, &place);
	if (!err && !place.reason)
		err = hodo_build_add_hook(b, &place, &h);
	if (err || place.reason)
		return err;
	b->items[place.item].flags |= HODO_PLAN_LANDING;
	b->built.landings++;
	return 0;
}

int hodo_build_landings(struct hodo_probe_piece *b)
{
	const struct hodo_probe_object *o = b->target->object;
	int err = 0;

	for (uint32_t i = 0; i < o->nlandings && b->target->landings && !err; i++)
		err = add(b, &o->landings[i]);
	return err;
}

size_t hodo_build_put_landing(const struct hodo_plan_item *x, const struct hodo_plan_hook *h, uint64_t address,
			      uint8_t *to)
{
	return code(x, h->state, address, to);
}
