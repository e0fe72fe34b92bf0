/* SPDX-License-Identifier: MIT */
/*
 * build_object.c - the plan of one object in one process, a piece of a plan: windows first, then places for all of
 * them at once; and the code of their hooks.
 */
#include "build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/abi_plan.h>

#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>

#include "build_impl.h"
#include "event_code.h"
#include "place.h"
#include <probe/code/syscalls.h>

#define HOOK_BYTES         13u /* call *disp32(%rip); nopl disp32(%rax) */
#define FINDER_HOOK_BYTES  13u /* lea disp32(%rip),%r11; jmp *disp32(%rip) */
#define SYSCALL_HOOK_BYTES 13u /* lea disp32(%rip),%rcx; jmp *disp32(%rip) */

/* ------------------------------------------------------------------------ windows */

static int add_system_call(void *arg, uint64_t addr)
{
	struct hodo_probe_piece *b = arg;
	struct hodo_probe_window w;

	hodo_probe_window_at(b->target->object, addr, &w);
	if (w.kind != HODO_PROBE_JUMP) {
		b->built.call = addr;
		b->built.reason = w.reason;
		return -EOPNOTSUPP;
	}
	b->built.calls++;
	return hodo_build_add_item(b, &w, HODO_PLAN_JUMP | HODO_PLAN_ALWAYS, SYSCALL_HOOK_BYTES);
}

/* For slots, libhodo answers unwinders. Without this function, everything works except unwinding. */
static int add_finder(struct hodo_probe_piece *b)
{
	struct hodo_probe_window w;
	int err;

	hodo_probe_window_at(b->target->object, b->target->object->finder, &w);
	if (w.kind != HODO_PROBE_JUMP)
		return 0;
	err = hodo_build_add_item(b, &w, HODO_PLAN_JUMP | HODO_PLAN_STAYS, FINDER_HOOK_BYTES);
	b->built.finders += !err;
	return err == -EAGAIN ? 0 : err;
}

/* The events' code precedes that of the recorded call. */
static int add_call_hook(struct hodo_probe_piece *b, struct hodo_build_place *place, enum hodo_plan_hook_kind kind,
			 uint64_t function)
{
	const struct hodo_plan_hook h = { .kind = (uint8_t)kind, .bytes = HOOK_BYTES };
	struct hodo_plan_item *x;
	int err = place->reason ? 0 : hodo_build_add_hook(b, place, &h);

	if (err || place->reason)
		return err;
	x = &b->items[place->item];
	x->function = function;
	if (kind == HODO_HOOK_ENTRY)
		x->entry = place->instruction;
	else
		x->exits |= (uint8_t)(1u << place->instruction);
	return 0;
}

static int add_entry(struct hodo_probe_piece *b, const struct hodo_probe_function *f, uint64_t addr, bool *fine)
{
	struct hodo_build_place place;
	int err = hodo_build_entry(b, f, true, &place);

	if (!err)
		err = add_call_hook(b, &place, HODO_HOOK_ENTRY, addr);
	*fine = !err && !place.reason;
	return err;
}

static int add_exits(struct hodo_probe_piece *b, const struct hodo_probe_function *f, uint64_t addr, uint32_t *missed)
{
	const struct hodo_probe_object *o = b->target->object;
	int err = 0;

	for (uint32_t i = 0; i < f->nexits && !err; i++) {
		struct hodo_build_place place;

		err = hodo_build_exit(b, &o->exits[f->exit + i], &place);
		if (!err)
			err = add_call_hook(b, &place, HODO_HOOK_EXIT, addr);
		*missed += place.reason != HODO_PROBE_FINE;
	}
	return err;
}

/* Without an entry, nothing: calls without a start are not recorded. */
static int add_function(struct hodo_probe_piece *b, uint32_t function)
{
	const struct hodo_probe_function *f = &b->target->object->functions[function];
	uint64_t addr = f->start + b->target->bias;
	uint32_t missed = 0;
	struct hodo_plan_function *x;
	bool fine = true;
	int err = f->part ? 0 : add_entry(b, f, addr, &fine);

	if (!err && !fine)
		b->built.refused++;
	if (err || !fine)
		return err;
	err = add_exits(b, f, addr, &missed);
	if (err || (f->part && missed == f->nexits))
		return err;
	x = hodo_vec_add(b->functions, b->nfunctions);
	if (!x)
		return -ENOMEM;
	*x = (struct hodo_plan_function){ .addr = addr, .entry = f->part ? HODO_PLAN_NO_WINDOW : 0, .missed = missed };
	b->built.functions += !f->part;
	b->built.exits += f->nexits;
	b->built.missed += missed;
	return 0;
}

static int add_slotted(struct hodo_probe_piece *b)
{
	const struct hodo_probe_target *t = b->target;

	for (uint32_t i = 0; i < t->nslotted; i++) {
		struct hodo_plan_function *x = hodo_vec_add(b->slotted, b->nslotted);

		if (!x)
			return -ENOMEM;
		*x = (struct hodo_plan_function){ .addr = t->object->functions[t->slotted[i]].start + t->bias,
						  .entry = HODO_PLAN_NO_WINDOW };
	}
	b->built.slotted += t->nslotted;
	return 0;
}

/* ------------------------------------------------------------------------- places */

/* How much memory on each side of the code is searched: the slots, which are farther away, must reach it,
 * too. */
#define NEAR (512ull << 20)

/* Separate pages for data, near all of the object's code. */
static int place_data(struct hodo_probe_piece *b, struct hodo_probe_space *space)
{
	const struct hodo_probe_object *o = b->target->object;
	uint64_t low = o->segments[0].start + b->target->bias;
	uint64_t at = (low > NEAR ? low - NEAR : 0x10000) & ~(uint64_t)(HODO_PAGE - 1);
	uint64_t bytes = HODO_PLAN_POOL_BYTES + hodo_build_states(b->target) * sizeof(struct hodo_plan_state) +
			 b->target->nreplacements * sizeof(uint64_t), next = 0;
	uint32_t n = (uint32_t)((bytes + HODO_PAGE - 1) / HODO_PAGE), found = 0;
	int err = 0;

	for (; found < n && at < low + NEAR; at += HODO_PAGE) {
		bool fits = hodo_probe_space_page(space, at) == space->npages ||
			    space->pages[hodo_probe_space_page(space, at)].addr > at;

		fits = fits && hodo_probe_space_fits(space, at, HODO_PAGE, true, &next);
		found = fits ? found + 1 : 0;
		if (!fits && next > at)
			at = ((next + HODO_PAGE - 1) & ~(uint64_t)(HODO_PAGE - 1)) - HODO_PAGE;
	}
	if (found < n)
		return -ENOMEM;
	b->data = (struct hodo_plan_data){ .addr = at - (uint64_t)n * HODO_PAGE, .pages = n };
	for (uint32_t i = 0; i < n && !err; i++)
		err = hodo_probe_space_put(space, b->data.addr + (uint64_t)i * HODO_PAGE, HODO_PAGE);
	return err;
}

static int place_all(struct hodo_probe_piece *b, struct hodo_probe_space *space)
{
	HODO_AUTO_FREE struct hodo_probe_slot *slots = calloc(b->nitems + 1, sizeof(*slots));
	int err;

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nitems; i++)
		slots[i] = hodo_probe_slot_of(&b->items[i].window, &b->items[i].recipe);
	err = hodo_probe_place(space, slots, b->nitems);
	for (uint32_t i = 0; i < b->nitems && !err; i++) {
		b->items[i].slot = slots[i].slot;
		err = slots[i].slot ? 0 : -ENOMEM;
		b->built.bytes += b->items[i].recipe.bytes;
	}
	return err;
}

/* -------------------------------------------------------------------------- hooks */

static void put_distance(uint8_t *to, uint64_t from, uint64_t target)
{
	int32_t distance = (int32_t)(target - from);

	memcpy(to, &distance, sizeof(distance));
}

static void put_call(const struct hodo_plan_item *x, enum hodo_plan_import import, uint64_t address, uint8_t *to)
{
	/* The function's first address whose lowest two bits are 0, plus 1. */
	uint64_t in_function = ((x->function + 3) & ~3ull) + 1;

	memcpy(to, "\xff\x15", 2);
	put_distance(to + 2, address + 6, x->pool + sizeof(uint64_t) * import);
	memcpy(to + 6, "\x0f\x1f\x80", 3);
	put_distance(to + 9, address + 6, in_function);
}

/* The code that replaces the instruction. */
static size_t put_own(const struct hodo_plan_item *x, uint64_t address, uint8_t *to)
{
	bool call = x->flags & HODO_PLAN_ALWAYS;

	memcpy(to, call ? "\x48\x8d\x0d" : "\x4c\x8d\x1d", 3);
	put_distance(to + 3, address + 7, address + (call ? SYSCALL_HOOK_BYTES + 2 : FINDER_HOOK_BYTES));
	memcpy(to + 7, "\xff\x25", 2);
	put_distance(to + 9, address + 13,
		     x->pool + sizeof(uint64_t) * (call ? HODO_IMPORT_SYSCALL : HODO_IMPORT_FIND));
	return x->own_bytes;
}

/* Events, or only those about a call's start or end. Returns the total size. */
static size_t put_events(const struct hodo_plan_item *x, unsigned instruction, bool of_calls, uint64_t address,
			 uint8_t *to, size_t n)
{
	for (const struct hodo_plan_hook *h = x->hooks; h; h = h->next)
		if (h->kind == HODO_HOOK_EVENT && h->instruction == instruction &&
		    of_calls == (h->part != HODO_EVENT_PLACE))
			n += hodo_build_put_event(x, h, address + n, to + n);
	return n;
}

/*
 * First events, then the jump to another function, after which the call begins or ends: for callers that
 * still call the replaced one. Calls that this one leaves end before it begins.
 */
size_t hodo_build_put_hook(void *arg, unsigned instruction, uint64_t address, uint8_t *to, size_t bytes)
{
	const struct hodo_plan_item *x = arg;
	size_t n = 0;

	if (x->own_bytes)
		return put_own(x, address, to);
	n = put_events(x, instruction, false, address, to, n);
	for (struct hodo_plan_hook *h = x->hooks; h; h = h->next)
		if (h->kind >= HODO_HOOK_REPLACE && h->instruction == instruction)
			n += hodo_build_put_replacement(x, h, address + n, to + n);
	n = put_events(x, instruction, true, address, to, n);
	for (const struct hodo_plan_hook *h = x->hooks; h; h = h->next)
		if (h->kind == HODO_HOOK_LANDING && h->instruction == instruction)
			n += hodo_build_put_landing(x, h, address + n, to + n);
	for (const struct hodo_plan_hook *h = x->hooks; h; h = h->next) {
		if (h->kind > HODO_HOOK_EXIT || h->instruction != instruction)
			continue;
		put_call(x, h->kind == HODO_HOOK_ENTRY ? HODO_IMPORT_ENTRY : HODO_IMPORT_EXIT, address + n, to + n);
		n += HOOK_BYTES;
	}
	return n;
}

/* ------------------------------------------------------------------------------ all */

static int by_address(const void *a, const void *b)
{
	const struct hodo_plan_item *x = a, *y = b;

	return hodo_order(x->recipe.addr, y->recipe.addr);
}

static bool has_windows(const struct hodo_probe_target *t)
{
	return t->nfunctions || t->nevents || t->nreplacements || t->start || t->landings || t->system_calls;
}

static int add_events(struct hodo_probe_piece *b)
{
	const struct hodo_probe_target *t = b->target;
	int err = 0;

	for (uint32_t i = 0; i < t->nevents && !err; i++) {
		struct hodo_probe_event *e = &t->events[i];

		e->left = e->tails = e->missed = 0;
		e->calls = e->desc = 0;
		/* To a user who has named the place, a trap where a jump enters its window is better than no
		 * event. */
		t->object->enter_windows = e->exits;
		err = hodo_build_add_event(b, e);
	}
	t->object->enter_windows = false;
	return err;
}

static int add_windows(struct hodo_probe_piece *b)
{
	const struct hodo_probe_target *t = b->target;
	int err = 0;

	b->windows = hodo_build_no_windows;
	/* These windows are mandatory, even if a jump enters one and traps each time. */
	t->object->enter_windows = true;
	if (t->system_calls)
		err = hodo_probe_syscalls(t->object, add_system_call, b);
	t->object->enter_windows = false;
	if (!err && t->system_calls && t->object->finder)
		err = add_finder(b);
	if (!err)
		err = add_events(b);
	if (!err)
		err = hodo_build_landings(b);
	if (!err)
		err = hodo_build_replacements(b);
	for (uint32_t i = 0; i < t->nfunctions && !err; i++)
		err = add_function(b, t->functions[i]);
	hodo_map_free(&b->windows);
	/* Another piece of the object is for another process, or another mapping. */
	for (uint32_t i = 0; i < b->nitems; i++)
		hodo_probe_window_drop(t->object, &b->items[i].window);
	return err;
}

/* The pages are the piece's from now on. */
static int take_pages(struct hodo_probe_piece *b, struct hodo_probe_space *space)
{
	b->pages = b->nitems ? space->pages : NULL;
	b->npages = b->nitems ? space->npages : 0;
	if (!b->nitems) /* nothing refers to data then */
		free(space->pages);
	space->pages = NULL;
	space->npages = 0;
	return hodo_probe_space_take_pages(space, b->pages, b->npages);
}

int hodo_probe_piece_make(struct hodo_probe_piece *b, const struct hodo_probe_target *t, struct hodo_probe_space *space)
{
	int err;

	*b = (struct hodo_probe_piece){ .target = t, .bias = t->bias };
	err = add_slotted(b);
	if (!err && has_windows(t)) {
		err = t->object->nsegments ? place_data(b, space) : -EBADMSG;
		if (!err)
			err = add_windows(b);
	}
	if (!err)
		err = place_all(b, space);
	if (!err)
		err = take_pages(b, space);
	hodo_order_sort(b->items, b->nitems, by_address);
	for (uint32_t i = 0; i < b->nitems; i++)
		b->items[i].flags |= b->items[i].hooks && !b->items[i].function ? HODO_PLAN_EVENT : 0;
	b->built.windows = b->nitems;
	return err;
}
