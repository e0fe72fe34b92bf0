/* SPDX-License-Identifier: MIT */
/*
 * build_windows.c - the windows of a plan, before they have places, and the code for their slots: one window
 * serves everything at its instructions, a function's entry, its exits, and any number of events.
 */
#include <errno.h>

#include "build_impl.h"

/* Within the target: the address of its first byte in the file. */
struct window_key {
	uint64_t addr;
	uint32_t item;
};
const struct hodo_map hodo_build_no_windows = HODO_MAP(struct window_key, addr);

static bool has_syscall(const struct hodo_probe_recipe *r)
{
	for (unsigned k = 0; k < r->n; k++)
		if (r->instruction[k].kind == HODO_INSTRUCTION_SYSCALL)
			return true;
	return false;
}

/* Each instruction with hooks has room for the longest hooks of any of them. */
static unsigned longest(const struct hodo_plan_item *x)
{
	unsigned bytes[HODO_PROBE_WINDOW_INSTRUCTIONS] = { 0 }, most = x->own_bytes;

	for (const struct hodo_plan_hook *h = x->hooks; h; h = h->next) {
		bytes[h->instruction] += h->bytes;
		most = bytes[h->instruction] > most ? bytes[h->instruction] : most;
	}
	return most;
}

/* The recipe for the present hooks. A slot must also reach the imports. */
static int make_recipe(struct hodo_plan_item *x)
{
	unsigned bytes = longest(x);
	uint64_t end = x->pool_end;
	int err = bytes > HODO_PROBE_HOOK_BYTES ? -E2BIG :
		  hodo_probe_recipe_make(&x->recipe, &x->window, x->bias, (uint16_t)bytes);

	if (err)
		return err;
	x->recipe.low = x->pool < x->recipe.low ? x->pool : x->recipe.low;
	x->recipe.high = end > x->recipe.high ? end : x->recipe.high;
	return x->recipe.bytes > HODO_PROBE_PAGE_BYTES ? -E2BIG : 0;
}

int hodo_build_add_item(struct hodo_probe_piece *b, const struct hodo_probe_window *w, uint8_t flags,
			unsigned own_bytes)
{
	struct hodo_plan_item *x = hodo_vec_add(b->items, b->nitems);
	struct window_key *key;
	int err;

	if (!x)
		return -ENOMEM;
	*x = (struct hodo_plan_item){ .window = *w, .flags = flags, .entry = HODO_PROBE_NO_ENTRY, .pool = b->data.addr,
				      .pool_end = b->data.addr + (uint64_t)b->data.pages * HODO_PROBE_PAGE_BYTES,
				      .bias = b->target->bias, .own_bytes = (uint16_t)own_bytes };
	err = make_recipe(x);
	if (!err && !(flags & HODO_PLAN_ALWAYS) && has_syscall(&x->recipe))
		err = -EAGAIN; /* a thread would sleep in a slot, in a system call that libhodo does not see */
	key = err ? NULL : hodo_map_add_u64(&b->windows, w->addr, NULL);
	if (!err && !key)
		err = -ENOMEM;
	if (err) {
		b->nitems--;
		return err;
	}
	key->item = b->nitems - 1;
	hodo_probe_window_keep(b->target->object, w);
	return 0;
}

/* --------------------------------------------------------------------- places of hooks */

static bool instruction_of(const struct hodo_probe_window *w, uint64_t addr, struct hodo_build_place *place)
{
	for (unsigned k = 0; k < w->n; k++) {
		if (w->addr + w->at[k] != addr)
			continue;
		place->instruction = (uint8_t)k;
		return true;
	}
	return false;
}

/* A window that has an instruction there. */
static bool find(const struct hodo_probe_piece *b, uint64_t addr, struct hodo_build_place *place)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(b->target->object, addr);

	if (!s || !(s->marks[addr - s->start] & HODO_PROBE_MARK_TAKEN))
		return false;
	for (uint64_t k = 0; k < HODO_PROBE_WINDOW_BYTES && k <= addr; k++) {
		const struct window_key *key = hodo_map_find_u64(&b->windows, addr - k);

		if (key && instruction_of(&b->items[key->item].window, addr, place)) {
			place->item = key->item;
			return true;
		}
	}
	return false;
}

/* Code that replaces all else, or must not be waited in, has its own window. */
static bool is_shared(const struct hodo_plan_item *x)
{
	return !(x->flags & (HODO_PLAN_ALWAYS | HODO_PLAN_STAYS));
}

/* jump: a breakpoint is not acceptable. */
static int join_or_add(struct hodo_probe_piece *b, const struct hodo_probe_window *w, uint64_t addr, bool jump,
		       struct hodo_build_place *place)
{
	bool trap = w->kind == HODO_PROBE_TRAP;
	int err;

	*place = (struct hodo_build_place){ .reason = HODO_PROBE_FINE };
	if (find(b, addr, place)) {
		const struct hodo_plan_item *x = &b->items[place->item];

		place->trap = x->flags & HODO_PLAN_JUMP ? HODO_PROBE_FINE : x->window.reason;
		if (!is_shared(x) || (jump && place->trap))
			place->reason = is_shared(x) ? x->window.reason : HODO_PROBE_OVERLAP;
		return 0;
	}
	place->trap = trap ? w->reason : HODO_PROBE_FINE;
	place->reason = w->kind == HODO_PROBE_NONE || (trap && jump) ? w->reason : HODO_PROBE_FINE;
	if (place->reason || !instruction_of(w, addr, place))
		return 0;
	place->item = b->nitems;
	place->is_new = true;
	err = hodo_build_add_item(b, w, trap ? 0 : HODO_PLAN_JUMP, 0);
	if (err == -EAGAIN)
		place->reason = HODO_PROBE_SYSTEM_CALL;
	return err == -EAGAIN ? 0 : err;
}

int hodo_build_entry(struct hodo_probe_piece *b, const struct hodo_probe_function *f, bool jump,
		     struct hodo_build_place *place)
{
	struct hodo_probe_window w;

	hodo_probe_window_entry(b->target->object, f, &w);
	return join_or_add(b, &w, w.addr, jump, place);
}

int hodo_build_exit(struct hodo_probe_piece *b, const struct hodo_probe_exit *exit, struct hodo_build_place *place)
{
	struct hodo_probe_window w;

	hodo_probe_window_exit(b->target->object, exit, &w);
	return join_or_add(b, &w, exit->addr, true, place);
}

int hodo_build_at(struct hodo_probe_piece *b, uint64_t addr, struct hodo_build_place *place)
{
	struct hodo_probe_window w;
	int err;

	hodo_probe_window_at(b->target->object, addr, &w);
	err = join_or_add(b, &w, addr, false, place);
	if (err || place->reason != HODO_PROBE_SYSTEM_CALL)
		return err;
	/* Try a single instruction: it may be possible where a larger window is not. */
	b->target->object->no_jumps = true;
	hodo_probe_window_at(b->target->object, addr, &w);
	b->target->object->no_jumps = false;
	err = join_or_add(b, &w, addr, false, place);
	place->trap = HODO_PROBE_SYSTEM_CALL;
	return err;
}

/* -------------------------------------------------------------------------------- hooks */

static void take_item(struct hodo_probe_piece *b, struct hodo_plan_item *x)
{
	hodo_probe_window_drop(b->target->object, &x->window);
	hodo_map_remove(&b->windows, hodo_map_find_u64(&b->windows, x->window.addr));
	b->nitems--;
}

int hodo_build_add_hook(struct hodo_probe_piece *b, struct hodo_build_place *place, const struct hodo_plan_hook *hook)
{
	struct hodo_plan_item *x = &b->items[place->item];
	struct hodo_plan_hook **last = &x->hooks, *h = hodo_arena_alloc(&b->hooks, sizeof(*h));
	uint8_t hooked = x->window.hooks;
	int err;

	if (!h)
		return -ENOMEM;
	*h = *hook;
	h->next = NULL;
	h->instruction = place->instruction;
	while (*last)
		last = &(*last)->next;
	*last = h;
	x->window.hooks |= (uint8_t)(1u << h->instruction);
	err = h->bytes ? make_recipe(x) : -E2BIG;
	if (err != -E2BIG)
		return err;
	*last = NULL;
	x->window.hooks = hooked;
	place->reason = HODO_PROBE_TOO_LONG;
	if (place->is_new)
		take_item(b, x);
	else
		err = make_recipe(x);
	return err == -E2BIG ? 0 : err;
}

void hodo_build_take_back(struct hodo_probe_piece *b, uint32_t items, const struct hodo_probe_event *e)
{
	while (b->nitems > items)
		take_item(b, &b->items[b->nitems - 1]);
	for (uint32_t i = 0; i < b->nitems; i++)
		for (struct hodo_plan_hook **h = &b->items[i].hooks; *h;)
			if (e && (*h)->event == e)
				*h = (*h)->next;
			else
				h = &(*h)->next;
}
