/* SPDX-License-Identifier: MIT */
/* build_events.c - the windows of events, and what their slots run (event_code.h). */
#include <errno.h>
#include <hodo/abi_plan.h>

#include <base/scope.h>

#include "build_impl.h"
#include "event_code.h"

static uint64_t import(const struct hodo_plan_item *x, enum hodo_plan_import import)
{
	return x ? x->pool + sizeof(uint64_t) * import : 0;
}

/* x: NULL: to know how long it is. */
static size_t event_code(const struct hodo_probe_event *e, uint64_t bias, const struct hodo_plan_item *x,
			 enum hodo_probe_event_part part, bool tail, uint64_t address, uint8_t *to)
{
	const struct hodo_probe_event_code code = {
		.part = (uint8_t)part, .fields = tail && e->tail ? e->tail : e->fields, .nfields = e->nfields,
		.bias = bias, .pc = e->addr + bias,
		.site = import(x, HODO_IMPORT_SITE), .read = import(x, HODO_IMPORT_READ),
		.call = import(x, part == HODO_EVENT_BEGIN ? HODO_IMPORT_CALL_BEGIN : HODO_IMPORT_CALL_END),
		.function = e->calls, .state = x ? x->state : 0,
	};

	return hodo_probe_event_code(&code, address, to, HODO_PROBE_HOOK_BYTES);
}

/* An entry's is behind its endbr64, where all registers are what they were. */
static void event_window(const struct hodo_probe_object *o, uint64_t addr, struct hodo_probe_window *w)
{
	const struct hodo_probe_function *f = hodo_probe_function_at(o, addr);

	if (f && f->start == addr && !f->part)
		hodo_probe_window_entry(o, f, w);
	else
		hodo_probe_window_at(o, addr, w);
	hodo_probe_window_hook(w, w->addr);
}

/* One instruction: what another one of the window cannot have, it may. */
static void trap_window(struct hodo_probe_object *o, uint64_t addr, struct hodo_probe_window *w)
{
	o->no_jumps = true;
	event_window(o, addr, w);
	o->no_jumps = false;
}

/* A place that somebody has named may be a breakpoint; calls have to be seen to their ends. */
static bool is_possible(const struct hodo_probe_event *e, const struct hodo_probe_window *w)
{
	return w->kind == HODO_PROBE_JUMP || (w->kind == HODO_PROBE_TRAP && !e->exits);
}

/* A window of an event, with room for so many bytes at each hook. HODO_PROBE_FINE, or why it has none. */
static int take_event_window(struct hodo_build *b, const struct hodo_probe_planned *p, struct hodo_probe_event *e,
			     size_t bytes, enum hodo_probe_reason *why)
{
	struct hodo_plan_item *x;
	int err;

	*why = !is_possible(e, &p->window) ? p->window.reason : bytes ? HODO_PROBE_FINE : HODO_PROBE_TOO_LONG;
	if (*why != HODO_PROBE_FINE)
		return 0;
	err = hodo_build_add_item(b, p, 0, (p->window.kind == HODO_PROBE_JUMP ? HODO_PLAN_JUMP : 0) | HODO_PLAN_EVENT,
				  (unsigned)bytes);
	if (err && err != -EAGAIN)
		return err;
	x = &b->items[b->nitems - 1];
	if (err)
		*why = HODO_PROBE_SYSTEM_CALL;
	else if (x->recipe.bytes > HODO_PROBE_PAGE_BYTES)
		*why = HODO_PROBE_TOO_LONG;
	if (*why != HODO_PROBE_FINE) {
		b->nitems--;
		return 0;
	}
	x->event = e;
	x->state = b->data->addr + HODO_PLAN_POOL_BYTES + sizeof(struct hodo_plan_state) * b->data->states++;
	x->stack = hodo_probe_event_stack(e->fields, e->nfields);
	for (uint32_t k = 0; k < x->recipe.n; k++) {
		uint64_t addr = p->window.addr + x->recipe.from[k];
		const struct hodo_probe_exit *exit = hodo_probe_exit_at(b->target->object, addr);

		x->tails |= exit && exit->leave != HODO_PROBE_RETURN ? (uint8_t)(1u << k) : 0;
	}
	b->nevents++;
	return 0;
}

static int take_event(struct hodo_build *b, struct hodo_probe_event *e)
{
	struct hodo_probe_planned p = { .entry = HODO_PROBE_NO_ENTRY };
	uint8_t room[HODO_PROBE_HOOK_BYTES];
	size_t bytes = event_code(e, b->target->bias, NULL, HODO_EVENT_PLACE, false, 0, room);
	enum hodo_probe_reason why;
	int err;

	event_window(b->target->object, e->addr, &p.window);
	e->trap = p.window.kind == HODO_PROBE_TRAP ? p.window.reason : HODO_PROBE_FINE;
	err = take_event_window(b, &p, e, bytes, &why);
	if (!err && why == HODO_PROBE_SYSTEM_CALL && p.window.kind == HODO_PROBE_JUMP) {
		trap_window(b->target->object, e->addr, &p.window);
		e->trap = HODO_PROBE_SYSTEM_CALL;
		err = take_event_window(b, &p, e, bytes, &why);
	}
	e->reason = (uint8_t)why;
	if (!err && why == HODO_PROBE_FINE)
		hodo_probe_window_keep(b->target->object, &p.window);
	return err;
}

/* The longest hook that one of the windows of an event at exits has; 0: there is none so long. */
static size_t exit_bytes(const struct hodo_build *b, const struct hodo_probe_event *e,
			 const struct hodo_probe_planned *p)
{
	uint8_t room[HODO_PROBE_HOOK_BYTES];
	uint64_t bias = b->target->bias;
	size_t begin = event_code(e, bias, NULL, HODO_EVENT_BEGIN, false, 0, room);
	size_t end = event_code(e, bias, NULL, HODO_EVENT_END, false, 0, room);
	size_t tail = event_code(e, bias, NULL, HODO_EVENT_END, true, 0, room);
	bool both = p->entry != HODO_PROBE_NO_ENTRY && p->exits >> p->entry & 1;

	if (!end || !tail || begin + end + tail > HODO_PROBE_HOOK_BYTES)
		return 0;
	end = end > tail ? end : tail;
	return both ? begin + end : begin > end ? begin : end;
}

/* An event at exits: without the entry there is none, and calls that leave by an exit without a window have none. */
static int take_exits(struct hodo_build *b, struct hodo_probe_event *e)
{
	HODO_AUTO(hodo_probe_plan_free) struct hodo_probe_plan plan = { 0 };
	struct hodo_probe_object *o = b->target->object;
	const struct hodo_probe_function *f = hodo_probe_function_at(o, e->addr);
	uint32_t items = b->nitems, events = b->nevents, states = b->data->states;
	bool entry = false;
	int err;

	e->reason = HODO_PROBE_NO_INSTRUCTION;
	if (!f || f->start != e->addr || f->part)
		return 0;
	err = hodo_probe_plan_function(&plan, o, (uint32_t)(f - o->functions), true, true);
	e->reason = HODO_PROBE_FINE;
	for (uint32_t k = 0; k < plan.n && !err; k++) {
		const struct hodo_probe_planned *p = &plan.list[k];
		enum hodo_probe_reason why;
		unsigned n = (unsigned)__builtin_popcount(p->exits);

		err = take_event_window(b, p, e, exit_bytes(b, e, p), &why);
		entry |= p->entry != HODO_PROBE_NO_ENTRY && why == HODO_PROBE_FINE;
		if (p->entry != HODO_PROBE_NO_ENTRY && why == HODO_PROBE_FINE && !err)
			e->calls = b->items[b->nitems - 1].state;
		e->left += why == HODO_PROBE_FINE ? n : 0;
		if (why == HODO_PROBE_FINE && !err)
			e->tails += (uint32_t)__builtin_popcount(b->items[b->nitems - 1].tails & p->exits);
		e->missed += why == HODO_PROBE_FINE ? 0 : n ? n : 1;
		if (why == HODO_PROBE_FINE)
			continue;
		e->reason = e->reason == HODO_PROBE_FINE ? (uint8_t)why : e->reason;
		hodo_probe_window_drop(o, &p->window);
	}
	if (err || (entry && e->left))
		return err;
	for (uint32_t k = 0; k < plan.n; k++)
		hodo_probe_window_drop(o, &plan.list[k].window);
	b->nitems = items;
	b->nevents = events;
	b->data->states = states;
	e->left = e->tails = 0;
	e->reason = e->reason == HODO_PROBE_FINE ? HODO_PROBE_NO_EXITS : e->reason;
	return 0;
}

uint64_t hodo_build_states(const struct hodo_probe_target *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->nevents; i++) {
		const struct hodo_probe_function *f = hodo_probe_function_at(t->object, t->events[i].addr);

		n += 1 + (t->events[i].exits && f ? f->nexits : 0);
	}
	return n;
}

int hodo_build_add_event(struct hodo_build *b, struct hodo_probe_event *e)
{
	int err = e->exits ? take_exits(b, e) : take_event(b, e);

	if (err)
		return err;
	if (e->exits ? e->left > 0 : e->reason == HODO_PROBE_FINE)
		b->built->events++;
	else
		b->built->without++;
	return 0;
}

size_t hodo_build_put_event(const struct hodo_plan_item *x, unsigned instruction, uint64_t address, uint8_t *to)
{
	const struct hodo_probe_event *e = x->event;
	size_t n = 0;

	if (!e->exits)
		return event_code(e, x->bias, x, HODO_EVENT_PLACE, false, address, to);
	if (instruction == x->entry)
		n = event_code(e, x->bias, x, HODO_EVENT_BEGIN, false, address, to);
	if (x->exits >> instruction & 1)
		n += event_code(e, x->bias, x, HODO_EVENT_END, x->tails >> instruction & 1, address + n, to + n);
	return n;
}
