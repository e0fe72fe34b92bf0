/* SPDX-License-Identifier: MIT */
/*
 * build_pieces.c - the plan of a process, of a piece for each of its objects. A piece is moved to where another process
 * has the object: all its addresses are as far from the object's as before, and so its code stays what it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/scope.h>

#include "build_impl.h"

/* ------------------------------------------------------------------------ a piece */

void hodo_probe_piece_free(struct hodo_probe_piece *p)
{
	if (!p)
		return;
	free(p->items);
	free(p->functions);
	free(p->slotted);
	free(p->pages);
	hodo_arena_free(&p->hooks);
	free(p);
}

static void move_item(struct hodo_plan_item *x, uint64_t by)
{
	struct hodo_probe_recipe *r = &x->recipe;

	r->addr += by;
	r->low += by;
	r->high += by;
	for (unsigned k = 0; k < r->n; k++)
		r->instruction[k].target += by;
	x->function += x->function ? by : 0;
	x->pool += by;
	x->pool_end += by;
	x->slot += by;
	x->bias += by;
	for (struct hodo_plan_hook *h = x->hooks; h; h = h->next)
		h->state += by;
}

/* False: something is in the way. */
static bool move(struct hodo_probe_piece *p, const struct hodo_probe_target *t, struct hodo_probe_space *space)
{
	uint64_t by = t->bias - p->bias;

	for (uint32_t i = 0; i < p->npages; i++)
		if (!hodo_probe_space_is_free(space, p->pages[i].addr + by, HODO_PROBE_PAGE_BYTES))
			return false;
	p->bias = t->bias;
	p->data.addr += by;
	for (uint32_t i = 0; i < p->nitems && by; i++)
		move_item(&p->items[i], by);
	for (uint32_t i = 0; i < p->nfunctions; i++)
		p->functions[i].addr += by;
	for (uint32_t i = 0; i < p->nslotted; i++)
		p->slotted[i].addr += by;
	for (uint32_t i = 0; i < p->npages; i++)
		p->pages[i].addr += by;
	for (uint32_t i = 0; i < t->nevents; i++)
		t->events[i].calls += t->events[i].calls ? by : 0;
	return true;
}

static int make(struct hodo_probe_target *t, struct hodo_probe_space *space, struct hodo_probe_built *built)
{
	int err;

	if (t->piece && move(t->piece, t, space))
		return hodo_probe_space_take_pages(space, t->piece->pages, t->piece->npages);
	hodo_probe_piece_free(t->piece);
	t->piece = malloc(sizeof(*t->piece));
	if (!t->piece)
		return -ENOMEM;
	err = hodo_probe_piece_make(t->piece, t, space);
	if (err)
		*built = t->piece->built;
	return err;
}

/* ------------------------------------------------------------------------ together */

/* All pieces. */
struct all {
	struct hodo_plan_parts parts;
	struct hodo_plan_item **items;
	struct hodo_plan_function *functions;
	struct hodo_plan_data *data;
	struct hodo_probe_space space; /* with their pages */
};

static int items_by_address(const void *a, const void *b)
{
	const struct hodo_plan_item *const *x = a, *const *y = b;

	return hodo_order((*x)->recipe.addr, (*y)->recipe.addr);
}

/* All windows of a function are adjacent, except for those of system calls and events, and so are the
 * functions, in the same order. */
static void number(struct all *a)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < a->parts.nfunctions; i++) {
		struct hodo_plan_function *f = &a->functions[i];

		while (k < a->parts.nitems && a->items[k]->function != f->addr)
			k++;
		if (f->entry != HODO_PLAN_NO_WINDOW)
			f->entry = k;
		f->first = f->entry != HODO_PLAN_NO_WINDOW && !a->items[k]->exits ? k + 1 : k;
		for (; k < a->parts.nitems && (a->items[k]->function == f->addr || !a->items[k]->function); k++)
			f->exits = k + 1 - f->first;
	}
}

/* Of one kind, functions with windows or those with slots. */
static void add_functions(struct all *a, const struct hodo_plan_function *list, uint32_t n)
{
	if (n)
		memcpy(a->functions + a->parts.nfunctions, list, n * sizeof(*list));
	a->parts.nfunctions += n;
}

static void add_piece(struct all *a, const struct hodo_probe_piece *p)
{
	for (uint32_t i = 0; i < p->nitems; i++)
		a->items[a->parts.nitems++] = &p->items[i];
	add_functions(a, p->functions, p->nfunctions);
	if (p->npages) {
		a->data[a->parts.ndata++] = p->data;
		memcpy(a->space.pages + a->space.npages, p->pages, p->npages * sizeof(*p->pages));
		a->space.npages += p->npages;
	}
}

/* Sorted as the file has them. */
static void join(struct all *a, const struct hodo_probe_target *targets, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		add_piece(a, targets[i].piece);
	hodo_order_sort(a->items, a->parts.nitems, items_by_address);
	hodo_order_sort(a->functions, a->parts.nfunctions, hodo_order_u64);
	hodo_order_sort(a->space.pages, a->space.npages, hodo_order_u64);
	number(a);
	/* Once the others have their windows' numbers. */
	for (unsigned i = 0; i < n; i++)
		add_functions(a, targets[i].piece->slotted, targets[i].piece->nslotted);
	hodo_order_sort(a->functions, a->parts.nfunctions, hodo_order_u64);
}

static void add_counts(struct hodo_probe_built *to, const struct hodo_probe_built *b)
{
	to->functions += b->functions;
	to->slotted += b->slotted;
	to->refused += b->refused;
	to->exits += b->exits;
	to->missed += b->missed;
	to->calls += b->calls;
	to->finders += b->finders;
	to->events += b->events;
	to->without += b->without;
	to->replaced += b->replaced;
	to->landings += b->landings;
	to->windows += b->windows;
	to->bytes += b->bytes;
}

static int write_file(const struct hodo_probe_target *targets, unsigned n, struct hodo_probe_built *built)
{
	struct all a = { .parts = { .hook = hodo_build_put_hook } };
	size_t items = 0, functions = 0, pages = 0;
	int err = -ENOMEM;

	for (unsigned i = 0; i < n; i++) {
		const struct hodo_probe_piece *p = targets[i].piece;

		items += p->nitems;
		functions += p->nfunctions + p->nslotted;
		pages += p->npages;
		add_counts(built, &p->built);
	}
	a.items = calloc(items + 1, sizeof(*a.items));
	a.functions = calloc(functions + 1, sizeof(*a.functions));
	a.data = calloc(n + 1, sizeof(*a.data));
	a.space.pages = calloc(pages + 1, sizeof(*a.space.pages));
	if (a.items && a.functions && a.data && a.space.pages) {
		join(&a, targets, n);
		a.parts.items = a.items;
		a.parts.functions = a.functions;
		a.parts.data = a.data;
		built->fd = hodo_plan_write(&a.parts, &a.space);
		err = built->fd < 0 ? built->fd : 0;
	}
	free(a.items);
	free(a.functions);
	free(a.data);
	free(a.space.pages);
	return err;
}

int hodo_probe_build(struct hodo_probe_target *targets, unsigned n, struct hodo_probe_space *space,
		     struct hodo_probe_built *built)
{
	int err = 0;

	*built = (struct hodo_probe_built){ 0 };
	hodo_probe_space_settle(space);
	for (unsigned i = 0; i < n && !err; i++)
		err = make(&targets[i], space, built);
	if (err)
		built->fd = -1;
	return err ? err : write_file(targets, n, built);
}
