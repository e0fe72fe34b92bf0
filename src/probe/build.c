/* SPDX-License-Identifier: MIT */
/* build.c - see build.h. Windows first, then places for all of them at once, then the bytes. */
#include "build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hodo/abi_plan.h>

#include <base/scope.h>
#include <base/vec.h>

#include "build_file.h"
#include "place.h"
#include "plan.h"
#include "syscalls.h"

#define HOOK_BYTES         13u /* call *disp32(%rip); nopl disp32(%rax) */
#define SYSCALL_HOOK_BYTES 13u /* lea disp32(%rip),%rcx; jmp *disp32(%rip) */
#define POOL_ALIGN         8u

/* What makes one plan: all lists are parallel to `windows`, but where it says so. */
struct build {
	const struct hodo_probe_target *target; /* in hand */
	uint64_t pool; /* of the target: where its imports stand */
	struct hodo_plan_item *items;
	uint32_t nitems;
	struct hodo_plan_function *functions;
	uint32_t nfunctions;
	struct hodo_probe_built *built;
};

/* ------------------------------------------------------------------------ windows */

static bool has_syscall(const struct hodo_probe_recipe *r)
{
	for (unsigned k = 0; k < r->n; k++)
		if (r->instruction[k].kind == HODO_INSTRUCTION_SYSCALL)
			return true;
	return false;
}

/* A slot must reach the imports, too. */
static int add_item(struct build *b, const struct hodo_probe_planned *p, uint64_t function, uint8_t flags,
		    unsigned hook)
{
	struct hodo_plan_item *x = hodo_vec_add(b->items, b->nitems);
	int err;

	if (!x)
		return -ENOMEM;
	*x = (struct hodo_plan_item){ .window = p->window, .entry = p->entry, .exits = p->exits, .flags = flags,
				      .function = function, .pool = b->pool };
	err = hodo_probe_recipe_make(&x->recipe, &p->window, b->target->bias, (uint16_t)hook);
	x->recipe.low = x->pool < x->recipe.low ? x->pool : x->recipe.low;
	x->recipe.high = x->pool + HODO_PLAN_POOL_BYTES > x->recipe.high ? x->pool + HODO_PLAN_POOL_BYTES :
									     x->recipe.high;
	/* A thread that sleeps in a system call of a slot would be where no unwinder knows it. */
	return err ? err : !(flags & HODO_PLAN_ALWAYS) && has_syscall(&x->recipe) ? -EAGAIN : 0;
}

static int add_system_call(void *arg, uint64_t addr)
{
	struct build *b = arg;
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
	err = add_item(b, &p, 0, HODO_PLAN_JUMP | HODO_PLAN_ALWAYS, SYSCALL_HOOK_BYTES);
	b->built->calls++;
	return err;
}

/* The first instruction of a function may be its exit, and then has two hooks: ret, or a jump to another function. */
static unsigned hook_bytes(const struct hodo_probe_planned *p)
{
	return p->entry != HODO_PROBE_NO_ENTRY && p->exits >> p->entry & 1 ? 2 * HOOK_BYTES : HOOK_BYTES;
}

/* Takes one of a function's windows. False: it can be none. */
static int take_window(struct build *b, const struct hodo_probe_planned *p, uint64_t function)
{
	int err = -EAGAIN;

	if (p->window.kind == HODO_PROBE_JUMP)
		err = add_item(b, p, function, HODO_PLAN_JUMP, hook_bytes(p));
	if (err == -EAGAIN && p->window.kind == HODO_PROBE_JUMP)
		b->nitems--;
	if (err)
		hodo_probe_window_drop(b->target->object, &p->window);
	return err;
}

/* Its entry, if it has one, or nothing. */
static int add_function(struct build *b, uint32_t function)
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

/* Somewhere that all of the object's code can be reached from. */
static int place_pool(struct build *b, struct hodo_probe_space *space)
{
	const struct hodo_probe_object *o = b->target->object;
	uint64_t low = o->segments[0].start + b->target->bias;
	uint64_t high = o->segments[o->nsegments - 1].end + b->target->bias;
	struct hodo_probe_slot slot = { .addr = low, .low = low, .high = high, .kind = HODO_PROBE_TRAP,
					.bytes = HODO_PLAN_POOL_BYTES + POOL_ALIGN };
	int err = hodo_probe_place(space, &slot, 1);

	b->pool = (slot.slot + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
	return err;
}

static int place_all(struct build *b, struct hodo_probe_space *space)
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

	(void)bytes;
	if (x->flags & HODO_PLAN_ALWAYS) {
		memcpy(to, "\x48\x8d\x0d", 3);
		put_distance(to + 3, address + 7, address + SYSCALL_HOOK_BYTES + 2);
		memcpy(to + 7, "\xff\x25", 2);
		put_distance(to + 9, address + 13, x->pool + sizeof(uint64_t) * HODO_IMPORT_SYSCALL);
		return SYSCALL_HOOK_BYTES;
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

/* All windows of a function stand beside each other, and so do the functions in the same order. */
static void number(struct build *b)
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
		for (; k < b->nitems && (b->items[k].function == f->addr || b->items[k].flags & HODO_PLAN_ALWAYS); k++)
			f->exits = k + 1 - f->first;
	}
}

static int plan_target(struct build *b, struct hodo_probe_space *space)
{
	const struct hodo_probe_target *t = b->target;
	int err = t->object->nsegments ? place_pool(b, space) : -EBADMSG;

	/* They must be had: that a jump enters one, and traps each time, is no hindrance. */
	t->object->enter_windows = true;
	if (!err && t->system_calls)
		err = hodo_probe_syscalls(t->object, add_system_call, b);
	t->object->enter_windows = false;
	for (uint32_t i = 0; i < t->nfunctions && !err; i++)
		err = add_function(b, t->functions[i]);
	return err;
}

int hodo_probe_build(const struct hodo_probe_target *targets, unsigned n, struct hodo_probe_space *space,
		     struct hodo_probe_built *built)
{
	struct build b = { .built = built };
	HODO_AUTO_FREE uint64_t *pools = calloc(n + 1, sizeof(*pools));
	int err = pools ? 0 : -ENOMEM;

	*built = (struct hodo_probe_built){ .fd = -1 };
	for (unsigned i = 0; i < n && !err; i++) {
		b.target = &targets[i];
		err = plan_target(&b, space);
		pools[i] = b.pool;
	}
	if (!err)
		err = place_all(&b, space);
	if (!err) {
		number(&b);
		built->windows = b.nitems;
		built->fd = hodo_plan_write(&(struct hodo_plan_parts){ b.items, b.nitems, b.functions, b.nfunctions,
								       pools, n, put_hook }, space);
		err = built->fd < 0 ? built->fd : 0;
	}
	free(b.items);
	free(b.functions);
	return err;
}
