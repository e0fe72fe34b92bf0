/* SPDX-License-Identifier: MIT */
/* build_events.c - the windows of events, and the code in their slots (event_code.h). */
#include <hodo/abi_plan.h>

#include <base/scope.h>

#include "build_impl.h"
#include "event_code.h"

static uint64_t import(const struct hodo_plan_item *x, enum hodo_plan_import import)
{
	return x ? x->pool + sizeof(uint64_t) * import : 0;
}

/* x: NULL: only finds the length. */
static size_t event_code(const struct hodo_plan_hook *h, uint64_t bias, const struct hodo_plan_item *x,
			 uint64_t address, uint8_t *to)
{
	const struct hodo_probe_event *e = h->event;
	const struct hodo_probe_event_code code = {
		.part = h->part, .fields = h->tail && e->tail ? e->tail : e->fields, .nfields = e->nfields,
		.bias = bias, .pc = e->addr + bias,
		.site = import(x, HODO_IMPORT_SITE), .read = import(x, HODO_IMPORT_READ),
		.call = import(x, h->part == HODO_EVENT_BEGIN ? HODO_IMPORT_CALL_BEGIN : HODO_IMPORT_CALL_END),
		.function = e->calls, .state = h->state,
	};

	return hodo_probe_event_code(&code, address, to, HODO_PROBE_HOOK_BYTES);
}

/* Adds a hook at the place; if that is not possible, the place has the reason. */
static int add_hook(struct hodo_probe_piece *b, struct hodo_probe_event *e, enum hodo_probe_event_part part, bool tail,
		    struct hodo_build_place *place)
{
	struct hodo_plan_hook h = { .event = e, .kind = HODO_HOOK_EVENT, .part = (uint8_t)part, .tail = tail };
	uint8_t room[HODO_PROBE_HOOK_BYTES];
	int err;

	if (place->reason)
		return 0;
	h.bytes = (uint16_t)event_code(&h, b->target->bias, NULL, 0, room);
	h.stack = hodo_probe_event_stack(e->fields, e->nfields);
	h.state = b->data.addr + HODO_PLAN_POOL_BYTES + sizeof(struct hodo_plan_state) * b->data.states;
	err = hodo_build_add_hook(b, place, &h);
	if (!err && !place->reason) {
		b->data.states++;
		if (part == HODO_EVENT_BEGIN)
			e->calls = h.state;
	}
	return err;
}

static int take_event(struct hodo_probe_piece *b, struct hodo_probe_event *e)
{
	const struct hodo_probe_function *f = hodo_probe_function_at(b->target->object, e->addr);
	struct hodo_build_place place;
	int err;

	/* At an entry it comes after endbr64, where all registers are unchanged. */
	if (f && f->start == e->addr && !f->part)
		err = hodo_build_entry(b, f, false, &place);
	else
		err = hodo_build_at(b, e->addr, &place);
	if (!err)
		err = add_hook(b, e, HODO_EVENT_PLACE, false, &place);
	e->trap = place.trap;
	e->reason = place.reason;
	return err;
}

/* An event at exits: it needs the entry, and calls that leave by an exit without a window do not have it. */
static int take_exits(struct hodo_probe_piece *b, struct hodo_probe_event *e)
{
	const struct hodo_probe_object *o = b->target->object;
	const struct hodo_probe_function *f = hodo_probe_function_at(o, e->addr);
	uint32_t items = b->nitems, states = b->data.states;
	struct hodo_build_place place;
	int err;

	e->reason = HODO_PROBE_NO_INSTRUCTION;
	if (!f || f->start != e->addr || f->part)
		return 0;
	err = hodo_build_entry(b, f, true, &place);
	if (!err)
		err = add_hook(b, e, HODO_EVENT_BEGIN, false, &place);
	e->reason = place.reason;
	for (uint32_t k = 0; k < f->nexits && !err && !place.reason; k++) {
		const struct hodo_probe_exit *exit = &o->exits[f->exit + k];
		bool tail = exit->leave != HODO_PROBE_RETURN;
		struct hodo_build_place at;

		err = hodo_build_exit(b, exit, &at);
		if (!err)
			err = add_hook(b, e, HODO_EVENT_END, tail, &at);
		e->left += !at.reason;
		e->tails += !at.reason && tail;
		e->missed += at.reason != HODO_PROBE_FINE;
		e->reason = e->reason == HODO_PROBE_FINE ? at.reason : e->reason;
	}
	if (err || e->left)
		return err;
	hodo_build_take_back(b, items, e);
	b->data.states = states;
	e->tails = 0;
	e->reason = e->reason == HODO_PROBE_FINE ? HODO_PROBE_NO_EXITS : e->reason;
	return 0;
}

/* A function's result, where it returns. */
static int take_results(struct hodo_probe_piece *b, struct hodo_probe_event *e)
{
	const struct hodo_probe_object *o = b->target->object;
	const struct hodo_probe_function *f = hodo_probe_function_at(o, e->addr);
	int err = 0;

	for (uint32_t k = 0; f && f->start == e->addr && k < f->nexits && !err; k++) {
		const struct hodo_probe_exit *exit = &o->exits[f->exit + k];
		struct hodo_build_place place;

		if (exit->leave != HODO_PROBE_RETURN)
			continue;
		err = hodo_build_exit(b, exit, &place);
		if (!err)
			err = add_hook(b, e, HODO_EVENT_PLACE, false, &place);
		e->left += !place.reason;
		e->missed += place.reason != HODO_PROBE_FINE;
	}
	return err;
}

uint64_t hodo_build_states(const struct hodo_probe_target *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->nevents; i++) {
		const struct hodo_probe_function *f = hodo_probe_function_at(t->object, t->events[i].addr);

		n += 1 + ((t->events[i].exits || t->events[i].results) && f ? f->nexits : 0);
	}
	return n;
}

int hodo_build_add_event(struct hodo_probe_piece *b, struct hodo_probe_event *e)
{
	int err = e->results ? take_results(b, e) : e->exits ? take_exits(b, e) : take_event(b, e);

	if (err)
		return err;
	if (e->exits || e->results ? e->left > 0 : e->reason == HODO_PROBE_FINE)
		b->built.events++;
	else
		b->built.without++;
	return 0;
}

size_t hodo_build_put_event(const struct hodo_plan_item *x, const struct hodo_plan_hook *h, uint64_t address,
			    uint8_t *to)
{
	return event_code(h, x->bias, x, address, to);
}
