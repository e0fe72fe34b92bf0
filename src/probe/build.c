/* SPDX-License-Identifier: MIT */
/* build.c - see build.h. Windows first, then places for all of them at once, then the bytes. */
#include "build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/abi_plan.h>

#include <base/scope.h>
#include <base/vec.h>

#include "build_impl.h"
#include "place.h"
#include "plan.h"
#include "syscalls.h"

#define HOOK_BYTES         13u /* call *disp32(%rip); nopl disp32(%rax) */
#define FINDER_HOOK_BYTES  13u /* lea disp32(%rip),%r11; jmp *disp32(%rip) */
#define SYSCALL_HOOK_BYTES 13u /* lea disp32(%rip),%rcx; jmp *disp32(%rip) */

/* ------------------------------------------------------------------------ windows */

static int add_system_call(void *arg, uint64_t addr)
{
	struct hodo_build *b = arg;
	struct hodo_probe_planned p = { .entry = HODO_PROBE_NO_ENTRY };
	int err;

	hodo_probe_window_at(b->target->object, addr, &p.window);
	if (p.window.kind != HODO_PROBE_JUMP) {
		b->built->call = addr;
		b->built->reason = p.window.reason;
		return -EOPNOTSUPP;
	}
	hodo_probe_window_hook(&p.window, addr);
	hodo_probe_window_keep(b->target->object, &p.window);
	err = hodo_build_add_item(b, &p, 0, HODO_PLAN_JUMP | HODO_PLAN_ALWAYS, SYSCALL_HOOK_BYTES);
	b->built->calls++;
	return err;
}

/* What unwinders ask is answered by libhodo for slots. Without it, all goes on but they. */
static int add_finder(struct hodo_build *b)
{
	struct hodo_probe_planned p = { .entry = HODO_PROBE_NO_ENTRY };
	int err = -EAGAIN;

	hodo_probe_window_at(b->target->object, b->target->object->finder, &p.window);
	if (p.window.kind != HODO_PROBE_JUMP)
		return 0;
	hodo_probe_window_hook(&p.window, b->target->object->finder);
	err = hodo_build_add_item(b, &p, 0, HODO_PLAN_JUMP | HODO_PLAN_STAYS, FINDER_HOOK_BYTES);
	if (!err)
		hodo_probe_window_keep(b->target->object, &p.window);
	else if (err == -EAGAIN)
		b->nitems--;
	b->built->finders += !err;
	return err == -EAGAIN ? 0 : err;
}

/* The first instruction of a function may be its exit, and then has two hooks: ret, or a jump to another function. */
static unsigned hook_bytes(const struct hodo_probe_planned *p)
{
	return p->entry != HODO_PROBE_NO_ENTRY && p->exits >> p->entry & 1 ? 2 * HOOK_BYTES : HOOK_BYTES;
}

/* Takes one of a function's windows. False: it can be none. */
static int take_window(struct hodo_build *b, const struct hodo_probe_planned *p, uint64_t function)
{
	int err = -EAGAIN;

	if (p->window.kind == HODO_PROBE_JUMP)
		err = hodo_build_add_item(b, p, function, HODO_PLAN_JUMP, hook_bytes(p));
	if (err == -EAGAIN && p->window.kind == HODO_PROBE_JUMP)
		b->nitems--;
	if (err)
		hodo_probe_window_drop(b->target->object, &p->window);
	return err;
}

/* Its entry, if it has one, or nothing. */
static int add_function(struct hodo_build *b, uint32_t function)
{
	HODO_AUTO(hodo_probe_plan_free) struct hodo_probe_plan plan = { 0 };
	const struct hodo_probe_function *f = &b->target->object->functions[function];
	uint64_t addr = f->start + b->target->bias;
	uint32_t first = b->nitems, missed = 0;
	struct hodo_plan_function *x;
	int err = hodo_probe_plan_function(&plan, b->target->object, function, true, true);

	for (uint32_t k = 0; k < plan.n && !err; k++) {
		const struct hodo_probe_planned *p = &plan.list[k];
		int taken = take_window(b, p, addr);
		bool entry = p->entry != HODO_PROBE_NO_ENTRY;

		err = taken == -EAGAIN ? 0 : taken;
		if (taken && entry) { /* calls that have no begin */
			for (uint32_t i = k + 1; i < plan.n; i++)
				hodo_probe_window_drop(b->target->object, &plan.list[i].window);
			b->built->refused++;
			return err;
		}
		missed += taken == -EAGAIN;
		b->built->exits += taken ? 0 : (uint32_t)__builtin_popcount(p->exits);
	}
	if (err || (b->nitems == first && f->part))
		return err;
	x = hodo_vec_add(b->functions, b->nfunctions);
	if (!x)
		return -ENOMEM;
	*x = (struct hodo_plan_function){ .addr = addr, .entry = f->part ? HODO_PLAN_NO_WINDOW : 0, .missed = missed };
	b->built->functions += !f->part;
	b->built->missed += missed;
	return 0;
}

/* ------------------------------------------------------------------------- places */

/* So much of memory on each side of the code is looked at: the slots must reach it as well, from farther. */
#define NEAR (512ull << 20)

/* Pages for data, which nothing else is in, near all of the object's code. */
static int place_data(struct hodo_build *b, struct hodo_probe_space *space)
{
	const struct hodo_probe_object *o = b->target->object;
	uint64_t low = o->segments[0].start + b->target->bias;
	uint64_t at = (low > NEAR ? low - NEAR : 0x10000) & ~(uint64_t)(HODO_PAGE - 1);
	uint64_t bytes = HODO_PLAN_POOL_BYTES + hodo_build_states(b->target) * sizeof(struct hodo_plan_state), next = 0;
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
	*b->data = (struct hodo_plan_data){ .addr = at - (uint64_t)n * HODO_PAGE, .pages = n };
	for (uint32_t i = 0; i < n && !err; i++)
		err = hodo_probe_space_put(space, b->data->addr + (uint64_t)i * HODO_PAGE, HODO_PAGE);
	return err;
}

static int place_all(struct hodo_build *b, struct hodo_probe_space *space)
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
		b->built->bytes += b->items[i].recipe.bytes;
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
	/* The first address of the function but 3 whose lowest bits are 0, and 1. */
	uint64_t in_function = ((x->function + 3) & ~3ull) + 1;

	memcpy(to, "\xff\x15", 2);
	put_distance(to + 2, address + 6, x->pool + sizeof(uint64_t) * import);
	memcpy(to + 6, "\x0f\x1f\x80", 3);
	put_distance(to + 9, address + 6, in_function);
}

static size_t put_hook(void *arg, unsigned instruction, uint64_t address, uint8_t *to, size_t bytes)
{
	const struct hodo_plan_item *x = arg;
	size_t n = 0;

	if (x->event)
		return hodo_build_put_event(x, instruction, address, to);
	if (x->flags & HODO_PLAN_ALWAYS) {
		memcpy(to, "\x48\x8d\x0d", 3);
		put_distance(to + 3, address + 7, address + SYSCALL_HOOK_BYTES + 2);
		memcpy(to + 7, "\xff\x25", 2);
		put_distance(to + 9, address + 13, x->pool + sizeof(uint64_t) * HODO_IMPORT_SYSCALL);
		return SYSCALL_HOOK_BYTES;
	}
	if (x->flags & HODO_PLAN_STAYS) {
		memcpy(to, "\x4c\x8d\x1d", 3);
		put_distance(to + 3, address + 7, address + FINDER_HOOK_BYTES);
		memcpy(to + 7, "\xff\x25", 2);
		put_distance(to + 9, address + 13, x->pool + sizeof(uint64_t) * HODO_IMPORT_FIND);
		return FINDER_HOOK_BYTES;
	}
	if (instruction == x->entry) {
		put_call(x, HODO_IMPORT_ENTRY, address, to);
		n = HOOK_BYTES;
	}
	if (x->exits >> instruction & 1) {
		put_call(x, HODO_IMPORT_EXIT, address + n, to + n);
		n += HOOK_BYTES;
	}
	return n;
}

/* ------------------------------------------------------------------------------ all */

static int by_address(const void *a, const void *b)
{
	const struct hodo_plan_item *x = a, *y = b;

	return x->recipe.addr < y->recipe.addr ? -1 : x->recipe.addr > y->recipe.addr;
}

static int functions_by_address(const void *a, const void *b)
{
	const struct hodo_plan_function *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* All windows of a function stand beside each other, but for those of system calls and events, and so do the functions
 * in the same order. */
static void number(struct hodo_build *b)
{
	uint32_t k = 0;

	qsort(b->items, b->nitems, sizeof(*b->items), by_address);
	qsort(b->functions, b->nfunctions, sizeof(*b->functions), functions_by_address);
	for (uint32_t i = 0; i < b->nfunctions; i++) {
		struct hodo_plan_function *f = &b->functions[i];

		while (k < b->nitems && b->items[k].function != f->addr)
			k++;
		if (f->entry != HODO_PLAN_NO_WINDOW)
			f->entry = k;
		f->first = f->entry != HODO_PLAN_NO_WINDOW && !b->items[k].exits ? k + 1 : k;
		for (; k < b->nitems && (b->items[k].function == f->addr || !b->items[k].function); k++)
			f->exits = k + 1 - f->first;
	}
}

static int plan_target(struct hodo_build *b, struct hodo_probe_space *space)
{
	const struct hodo_probe_target *t = b->target;
	int err = t->object->nsegments ? place_data(b, space) : -EBADMSG;

	/* They must be had: that a jump enters one, and traps each time, is no hindrance. */
	t->object->enter_windows = true;
	if (!err && t->system_calls)
		err = hodo_probe_syscalls(t->object, add_system_call, b);
	t->object->enter_windows = false;
	if (!err && t->system_calls && t->object->finder)
		err = add_finder(b);
	for (uint32_t i = 0; i < t->nevents && !err; i++) {
		/* A trap where a jump enters its window is better than no event for who has named the place. */
		t->object->enter_windows = t->events[i].exits;
		err = hodo_build_add_event(b, &t->events[i]);
	}
	t->object->enter_windows = false;
	for (uint32_t i = 0; i < t->nfunctions && !err; i++)
		err = add_function(b, t->functions[i]);
	return err;
}

static int write_file(struct hodo_build *b, const struct hodo_plan_data *data, unsigned n,
		      const struct hodo_probe_space *space)
{
	const struct hodo_plan_parts parts = { .items = b->items, .nitems = b->nitems, .functions = b->functions,
					       .nfunctions = b->nfunctions, .data = data, .ndata = n,
					       .nevents = b->nevents, .hook = put_hook };

	number(b);
	b->built->windows = b->nitems;
	b->built->fd = hodo_plan_write(&parts, space);
	return b->built->fd < 0 ? b->built->fd : 0;
}

int hodo_probe_build(const struct hodo_probe_target *targets, unsigned n, struct hodo_probe_space *space,
		     struct hodo_probe_built *built)
{
	HODO_AUTO_FREE struct hodo_plan_data *data = calloc(n + 1, sizeof(*data));
	struct hodo_build b = { .built = built };
	int err = data ? 0 : -ENOMEM;

	*built = (struct hodo_probe_built){ .fd = -1 };
	hodo_probe_space_settle(space);
	for (unsigned i = 0; i < n && !err; i++) {
		b.target = &targets[i];
		b.data = &data[i];
		err = plan_target(&b, space);
	}
	if (!err)
		err = place_all(&b, space);
	if (!err)
		err = write_file(&b, data, n, space);
	free(b.items);
	free(b.functions);
	return err;
}
